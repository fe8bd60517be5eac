package webobject

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// Erase returns the package without the Web objects that gone names, and how
// many those are. gone is asked once for each, in their order. Nothing of them
// is left: holes take the places of their runs, and all others keep their
// places, as the package keeps its header. The result has been verified, and
// depends on the arguments alone: erasing at once or one after the other gives
// the same bytes.
//
// What remains must be sound, or Erase fails; what goes need not be. What
// stands between the pages is written anew, which mends it. If nothing goes
// and nothing is to be mended, spf itself is returned. Errors about the bytes
// wrap ErrDamaged.
func Erase(spf []byte, gone func(Listed) bool) (rewritten []byte, erased int, err error) {
	rewritten, erased, err = erase(spf, gone)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot erase from package: %w", err)
	}
	return rewritten, erased, nil
}

func erase(spf []byte, gone func(Listed) bool) (rewritten []byte, erased int, err error) {
	r, err := Open(spf)
	if err != nil {
		return nil, 0, err
	}
	inflater := newInflater()
	sum := newChecksum()
	b := newBuilder(r.tail.header)
	for _, page := range r.tail.pages {
		run := r.run(page)
		_, raw, err := inflater.object(run, page.URL, page.Size)
		sum.add(raw, err)
		if gone(page) {
			erased++
			continue
		}
		if err != nil {
			return nil, 0, damagedPage(page, err)
		}
		if err := b.fill(page.Offset); err != nil {
			return nil, 0, err
		}
		b.add(Run{URL: page.URL, Compressed: run, Size: page.Size, CRC: crc32.ChecksumIEEE(raw)})
	}
	if err := sum.check(r.tail.members[0]); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err := b.fill(r.tail.streamEnd()); err != nil {
		return nil, 0, err
	}
	if rewritten, err = b.build(); err != nil {
		return nil, 0, err
	}
	if erased == 0 && bytes.Equal(rewritten, spf) {
		return spf, 0, nil
	}
	return rewritten, erased, Verify(rewritten)
}
