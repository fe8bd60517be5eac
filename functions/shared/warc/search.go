package warc

import (
	"bytes"
	"errors"
	"io"
)

// fault moves the reader on to the next record after a damaged one, and returns a *Fault with the
// place of the damaged record and the reason. If reading the file fails, it returns the error of
// reading instead.
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
// member, or to the end of the member if there is no such line. If the gzip data turn out to be
// damaged as well, it calls searchMember.
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

// searchMember moves the reader behind damaged data, to the next gzip member whose content begins
// with a record. If there is none, it moves the reader to the end of the file.
//
// The parameter from is the position just behind the first byte of the damaged data. The parameter
// noticed is the position up to which the file had been read when the damage was noticed. The method
// budget decides at which of these two positions the search begins.
//
// On its way, the search tests bytes that look like the beginning of a gzip member. If they hold no
// record, the number of bytes read for the test is subtracted from r.again. When r.again is used up,
// the rest of the file is skipped.
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

// searchVersion finds the next record after damaged data in an uncompressed file. It moves the reader
// to the next line that begins with "WARC/1.", or to the end of the file if there is none.
//
// The parameter from is the position just behind the first byte of the damaged data. The parameter
// noticed is the position up to which the file had been read when the damage was noticed. The method
// budget decides at which of these two positions the search begins.
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

// budget decides where the search for the next record after damaged data begins:
//
//	from      near the beginning of the damaged data. A search from here misses no record, but reads
//	          the bytes between the two positions a second time.
//	noticed   the position up to which the file had been read when the damage was noticed.
//
// r.again is the number of bytes that may still be read a second time. If it is at least the number of
// bytes between the two positions plus the size of a buffer, budget subtracts this sum from r.again,
// and returns the first position. Otherwise it returns the second position.
func (r *Reader) budget(from, noticed int64) int64 {
	if again := noticed - from + bufferSize; again <= r.again {
		r.again -= again
		return from
	}
	return noticed
}
