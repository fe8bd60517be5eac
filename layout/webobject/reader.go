package webobject

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Entry is a Web object, and the place of its compressed bytes in the package.
type Entry struct {
	Object
	Place
}

// Reader reads a storage package whose bytes are in memory.
type Reader struct {
	spf  []byte
	tail tail
}

// Open opens a storage package. It checks the zip's directory, the description and the
// map, without which no page can be found. It does not decode the pages. The Reader
// keeps spf, which must not be changed. Errors wrap ErrDamaged.
func Open(spf []byte) (*Reader, error) {
	t, err := openTail(spf)
	if err != nil {
		return nil, fmt.Errorf("cannot open package: %w: %w", ErrDamaged, err)
	}
	return &Reader{spf: spf, tail: t}, nil
}

func openTail(spf []byte) (tail, error) {
	a, err := parseDirectory(spf)
	if err != nil {
		return tail{}, err
	}
	if size := a.size(); size != int64(len(spf)) {
		return tail{}, fmt.Errorf("the directory is of a package of %d bytes, it has %d", size, len(spf))
	}
	return parseTail(spf[a.offset(1):], a)
}

// Objects yields the Web objects in the order of the package, each checked against the description,
// the map and its own hash. It decompresses one at a time. A yielded object stays valid.
//
// For a damaged page it yields the page's URL, its place and an error, and goes on. Other
// damage is reported last, by an error without a URL: wrong bytes between the pages, or a
// wrong CRC-32 of the .webop, which is checked only if all pages could be read. Errors
// wrap ErrDamaged.
func (r *Reader) Objects() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		inflater, sum := newInflater(), newChecksum()
		for _, listed := range r.tail.pages {
			o, raw, err := inflater.object(r.run(listed), listed.URL, listed.Size)
			sum.add(raw, err)
			if err != nil {
				o, err = Object{URL: listed.URL}, fmt.Errorf("cannot read package: %w", damagedPage(listed, err))
			}
			if !yield(Entry{Object: o, Place: listed.Place}, err) {
				return
			}
		}
		if err := r.checkRest(sum); err != nil {
			yield(Entry{}, err)
		}
	}
}

// Select yields those Web objects of a package whose URLs are wanted, in the order of the package. It does not
// decompress the others. It checks only the objects that it yields, in the same way as Objects.
func (r *Reader) Select(wanted func(url string) bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		inflater := newInflater()
		for _, listed := range r.tail.pages {
			if !wanted(listed.URL) {
				continue
			}
			o, _, err := inflater.object(r.run(listed), listed.URL, listed.Size)
			if err != nil {
				o, err = Object{URL: listed.URL}, fmt.Errorf("cannot read package: %w", damagedPage(listed, err))
			}
			if !yield(Entry{Object: o, Place: listed.Place}, err) {
				return
			}
		}
	}
}

// checkRest checks the bytes between the pages, and compares the CRC-32 of the .webop with sum, the
// checksum of its pages.
func (r *Reader) checkRest(sum checksum) error {
	if err := cmp.Or(r.checkBetween(), sum.check(r.tail.members[0])); err != nil {
		return fmt.Errorf("cannot read package: %w: %w", ErrDamaged, err)
	}
	return nil
}

func damagedPage(listed Listed, err error) error {
	return fmt.Errorf("%w: %.200q at byte %d: %w", ErrDamaged, listed.URL, listed.Offset, err)
}

func (r *Reader) run(listed Listed) []byte { return r.spf[listed.Offset : listed.Offset+listed.Length] }

// checkBetween checks the bytes of the .webop that belong to no compressed Web object: the local
// header and the magic at its beginning, the holes (filler in place of erased objects), and the
// final block.
func (r *Reader) checkBetween() error {
	start := append(r.tail.appendLocal(nil, 0), magicRun...)
	if !bytes.HasPrefix(r.spf, start) {
		return fmt.Errorf("%s: it does not begin with local header and magic", webopName)
	}
	next := firstRun
	for _, listed := range r.tail.pages {
		if err := r.checkHole(next, listed.Offset); err != nil {
			return err
		}
		next = listed.Offset + listed.Length
	}
	end := r.tail.streamEnd()
	if string(r.spf[end:end+int64(len(finalBlock))]) != finalBlock {
		return fmt.Errorf("%s: it does not end with an empty block at byte %d", webopName, end)
	}
	return r.checkHole(next, end)
}

func (r *Reader) checkHole(from, to int64) error {
	if !isHole(r.spf[from:to]) {
		return fmt.Errorf("%s: the bytes from %d to %d are no page, and no hole", webopName, from, to)
	}
	return nil
}

// maxRun is the greatest size in bytes of a run, which is one compressed Web object. It is larger
// than MaxSize, because deflate makes data that cannot be compressed a little larger: by less than
// 1/256.
const maxRun = MaxSize + MaxSize/256

// Read reads one Web object of a storage package with one GET of the range p, and checks the
// object's data by the hash in the object. The caller must check that the object has the
// expected URL. Errors about the bytes wrap ErrDamaged, also if the package ends before p does;
// errors of the store are wrapped.
func Read(ctx context.Context, r blob.Reader, key string, p Place) (Object, error) {
	o, err := read(ctx, r, key, p)
	if err != nil {
		return Object{}, fmt.Errorf("cannot read Web object of %d bytes at byte %d of %s: %w", p.Length, p.Offset, key, err)
	}
	return o, nil
}

func read(ctx context.Context, r blob.Reader, key string, p Place) (Object, error) {
	if p.Offset < 0 || p.Length <= 0 || p.Length > maxRun {
		return Object{}, fmt.Errorf("no place: want an offset from 0 and a length from 1 to %d", maxRun)
	}
	run, err := get(ctx, r, key, blob.Range{Offset: p.Offset, Length: p.Length})
	if err != nil {
		return Object{}, err
	}
	if int64(len(run)) != p.Length {
		return Object{}, fmt.Errorf("%w: the store returned %d bytes", ErrDamaged, len(run))
	}
	raw, err := newInflater().inflate(run, MaxSize)
	if err != nil {
		return Object{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	o, err := decodeWhole(raw)
	if err != nil {
		return Object{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return o, nil
}

// get reads a range of a package. Its error wraps ErrDamaged if the range begins at the end of the
// package or after it.
func get(ctx context.Context, r blob.Reader, key string, at blob.Range) ([]byte, error) {
	b, err := r.Get(ctx, key, at)
	if errors.Is(err, blob.ErrRange) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return b, err
}

// verify decodes a whole storage package and checks every byte: the headers of the zip, the CRCs
// and the holes. It compares the description and the map with the Web objects, and the Web objects
// with their hashes. It uses all processors, and returns the error of the first damaged page.
func verify(spf []byte) error {
	r, err := Open(spf)
	if err != nil {
		return err
	}
	pages := r.tail.pages
	crcs, failures := make([]uint32, len(pages)), make([]error, len(pages))
	var next atomic.Int64 // index of the page that is checked next
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(pages)) {
		group.Go(func() {
			inflater := newInflater()
			inflater.reuse = true // each object is used only until the next one is decoded
			for i := next.Add(1) - 1; i < int64(len(pages)); i = next.Add(1) - 1 {
				_, raw, err := inflater.object(r.run(pages[i]), pages[i].URL, pages[i].Size)
				if err != nil {
					failures[i] = damagedPage(pages[i], err)
					return
				}
				crcs[i] = crc32.ChecksumIEEE(raw)
			}
		})
	}
	group.Wait()
	if err := cmp.Or(failures...); err != nil {
		return fmt.Errorf("cannot read package: %w", err)
	}
	sum := newChecksum()
	for i, crc := range crcs {
		sum.crc = combineCRC(sum.crc, crc, pages[i].Size)
	}
	return r.checkRest(sum)
}
