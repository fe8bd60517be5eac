package warc

import (
	"bytes"
	"errors"
	"io"
)

// fault moves the reader on to the next record after a damaged one, and returns a *Fault with the
// place of the damaged record and the reason. If the file cannot be read, it returns that error
// instead.
func (r *Reader) fault(at Place, reason error) error {
	r.open = nil
	broken := r.inside == nil && r.spare.broken != nil || r.inside != nil && r.inside.broken != nil
	var err error
	switch {
	case r.inside != nil && !broken:
		err = r.searchInside()
	case broken, r.gzipped:
		r.inside, r.spare.broken = nil, nil
		err = r.searchMember(at.Offset+1, r.raw.offset())
	default:
		err = r.searchVersion(at.Offset+1, r.raw.offset())
	}
	if err != nil {
		return err
	}
	if errors.Is(reason, io.ErrUnexpectedEOF) {
		reason = errCut
	}
	return &Fault{at, reason}
}

// searchInside moves the reader on to the next line that begins with "WARC/1." in the present gzip
// member, or to the end of the member if it has none. If the gzip data turn out to be damaged as
// well, it moves on as searchMember does.
func (r *Reader) searchInside() error {
	mark := []byte("\n" + version)
	for {
		window, err := r.inside.Peek(bufferSize)
		if i := bytes.Index(window, mark); i >= 0 {
			_, err := r.inside.Discard(i + 1)
			return err
		}
		if err != nil && r.inside.broken == nil {
			r.inside = nil
			if err == io.EOF {
				err = nil
			}
			return err
		}
		if err != nil { // the gzip data are damaged, too
			from := r.inside.start
			r.inside, r.spare.broken = nil, nil
			return r.searchMember(from+1, r.raw.offset())
		}
		if _, err := r.inside.Discard(len(window) - len(mark) + 1); err != nil {
			return err
		}
	}
}

// searchMember moves the reader to the next gzip member whose content begins with a record, or to
// the end of the file if there is none. The parameter noticed is the position up to which the file
// has been read. The search begins at the parameter from, or at noticed if the bytes between the
// two must not be read again (see budget). It also ends at the end of the file if so many bytes
// look like gzip members that r.again is used up.
func (r *Reader) searchMember(from, noticed int64) error {
	from = r.budget(from, noticed)
	for {
		at, found, err := r.raw.find(from, gzipMagic)
		if err != nil || !found {
			r.raw.seek(r.raw.size)
			return err
		}
		is, read := r.raw.holdsRecord(at)
		if is {
			r.raw.seek(at)
			return nil
		}
		if r.again -= read; r.again < 0 { // too many bytes look like the beginning of a member
			r.raw.seek(r.raw.size)
			return nil
		}
		from = at + 1
	}
}

// searchVersion moves the reader to the next line of an uncompressed file that begins with
// "WARC/1.", or to the end of the file if there is none. The search begins at from or noticed, as
// in searchMember.
func (r *Reader) searchVersion(from, noticed int64) error {
	r.raw.seek(r.budget(from, noticed))
	if begin, _ := r.raw.Peek(len(version)); string(begin) == version {
		return nil
	}
	at, found, err := r.raw.find(r.raw.offset(), []byte("\n"+version))
	if err != nil || !found {
		r.raw.seek(r.raw.size)
		return err
	}
	r.raw.seek(at + 1)
	return nil
}

// budget returns the position at which a search begins: from, if the bytes between from and noticed
// may be read a second time, else noticed. r.again is the number of bytes of this file that may
// still be read a second time. If it suffices, budget subtracts the bytes that are read again.
func (r *Reader) budget(from, noticed int64) int64 {
	if again := noticed - from + bufferSize; again <= r.again {
		r.again -= again
		return from
	}
	return noticed
}
