package webobject

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"time"
)

// WebopMagic is the text with which every .webop begins. A .webop is a file of Web objects, one
// after another.
const WebopMagic = webopMagic

// firstFields are those fields of a Web object that WriteDescription needs for the description of a
// .webop.
type firstFields struct {
	descLine
	downloaded, expires time.Time
}

// WriteDescription writes the description of a .webop, which is a file of Web objects, one after
// another. The description goes to w. It lists the offset, size and URL of each Web object, so that
// readers can find it in the .webop. The parameter size is the size of the .webop in bytes. Before
// the list comes a header (see the package's documentation), with these fields among others:
//
//	Created    the argument created
//	Expires    the earliest expiry of the pages
//	Exponent   the greatest number e for which all pages are expected to stay valid for 2^e days
func WriteDescription(w io.Writer, webop io.ReaderAt, size int64, created time.Time) error {
	p := Package{Base: ExpiryBase, Created: created, Expires: created}
	lifetime := time.Duration(math.MaxInt64)
	for o, err := range webObjects(webop, size) {
		if err != nil {
			return err
		}
		if lifetime == math.MaxInt64 || o.expires.Before(p.Expires) {
			p.Expires = o.expires
		}
		lifetime = min(lifetime, o.expires.Sub(o.downloaded))
	}
	if lifetime < math.MaxInt64 {
		p.Exponent = exponentOf(lifetime)
	}
	if _, err := w.Write(p.appendDesc(nil)); err != nil {
		return err
	}
	for o, err := range webObjects(webop, size) {
		if err != nil {
			return err
		}
		if _, err := w.Write(o.append(nil)); err != nil {
			return err
		}
	}
	return nil
}

// exponentOf returns the exponent of a package whose pages are expected to stay valid for the given
// time. It rounds down to a power of two of days: for 5 days it returns 2, because 2^2 days are at
// most 5 days, and 2^3 days are more. The result is between -16 and 14.
func exponentOf(lifetime time.Duration) int16 {
	const least, most = -16, 14
	for e := int16(most); e > least; e-- {
		if Lifetime(e) <= lifetime {
			return e
		}
	}
	return least
}

// webObjects yields the first fields of each Web object in a .webop of version 1, in their
// order. size is the size of the .webop in bytes. An error ends the sequence. It wraps
// ErrDamaged if the .webop is damaged, but not if reading failed.
func webObjects(webop io.ReaderAt, size int64) iter.Seq2[firstFields, error] {
	return func(yield func(firstFields, error) bool) {
		buffer := make([]byte, 4<<10)
		at := func(n int, offset int64) ([]byte, error) {
			if int64(n) > size-offset {
				return nil, fmt.Errorf("%w: a Web object reaches over the end of the .webop, at byte %d", ErrDamaged, offset)
			}
			if n > len(buffer) {
				buffer = make([]byte, n)
			}
			b := buffer[:min(int64(len(buffer)), size-offset)]
			_, err := webop.ReadAt(b, offset)
			return b, err
		}
		magic, err := at(len(WebopMagic), 0)
		if err == nil && string(magic[:len(WebopMagic)]) != WebopMagic {
			err = fmt.Errorf("%w: it does not begin as a .webop", ErrDamaged)
		}
		for offset := int64(len(WebopMagic)); err == nil && offset < size; {
			var b []byte
			if b, err = at(fixedSize, offset); err != nil {
				break
			}
			if string(b[:len(objectMagic)]) != objectMagic || b[len(objectMagic)] != version1 {
				err = fmt.Errorf("%w: no Web object of version 1 begins at byte %d of the .webop", ErrDamaged, offset)
				break
			}
			mime, url := int(binary.BigEndian.Uint16(b[6:])), int(binary.BigEndian.Uint16(b[8:]))
			if b, err = at(fixedSize+mime+url, offset); err != nil {
				break
			}
			o := firstFields{downloaded: readTime(b[18:]), expires: readTime(b[26:])}
			o.Offset, o.Size = offset, int64(fixedSize+mime+url)+int64(binary.BigEndian.Uint32(b[10:]))
			o.URL = string(b[fixedSize+mime : fixedSize+mime+url])
			if offset += o.Size; offset > size {
				err = fmt.Errorf("%w: a Web object reaches over the end of the .webop, at byte %d", ErrDamaged, o.Offset)
				break
			}
			if err = checkURL(o.URL); err != nil {
				err = fmt.Errorf("%w: byte %d: %w", ErrDamaged, o.Offset, err)
				break
			}
			if !yield(o, nil) {
				return
			}
		}
		if err != nil {
			yield(firstFields{}, fmt.Errorf("cannot describe .webop: %w", err))
		}
	}
}
