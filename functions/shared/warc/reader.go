package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

const (
	version   = "WARC/1."
	maxHeader = 64 << 10 // greatest size in bytes of a record's header, and of the header of an HTTP response
	// After damage, a Reader reads some bytes of the file a second time, to find the next record. The
	// limit for all these bytes together is the size of the file plus minAgain (see Reader.again).
	minAgain = 4 << 20
)

var (
	errBomb    = errors.New("it expands too far")
	errVersion = errors.New("no record of WARC 1.0 or 1.1 begins here")
	errHeader  = fmt.Errorf("the header has more than %d bytes", maxHeader)
	errLength  = errors.New("no Content-Length, or not a number of bytes")
	errEnd     = errors.New("the record does not end where its Content-Length says")
	errCut     = errors.New("the file ends in the middle of a record")
)

// Place is the position of the first byte of a record.
type Place struct {
	// position in the file at which the record begins; if the record is in a gzip member, the position
	// at which the member begins
	Offset int64
	Inside int64 // where the record begins in the member's decompressed content; 0 without a gzip member
}

// String returns the place as a text for messages, such as "byte 7 of the gzip member at byte 900".
func (p Place) String() string {
	if p.Inside == 0 {
		return fmt.Sprintf("byte %d", p.Offset)
	}
	return fmt.Sprintf("byte %d of the gzip member at byte %d", p.Inside, p.Offset)
}

// Fault is the error for a record, or a part of a file, that could not be read. Place says where this
// record or part begins.
type Fault struct {
	Place
	Err error
}

// Error implements error.
func (f *Fault) Error() string { return fmt.Sprintf("%s: %v", f.Place, f.Err) }

// Unwrap returns the error that says why the record or part could not be read.
func (f *Fault) Unwrap() error { return f.Err }

// Record is a WARC record: its header, and an io.Reader for its block, which can be read until
// the next call of Reader.Finish or Reader.Next.
type Record struct {
	Place
	Type   string // WARC-Type in lower case: response, resource, request, …
	Length int64  // size of the block in bytes
	fields []field
	reader *Reader
	left   int64 // number of bytes of the block that are not read yet
}

// field is a line of a record's header.
type field struct{ name, value string }

// Field returns the value of a header field, whose name is compared without regard to case; "" if
// the record has no such field.
func (r *Record) Field(name string) string {
	for _, f := range r.fields {
		if strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

// Target returns the URL of the record (WARC-Target-URI), without the angle brackets that some
// programs put around it.
func (r *Record) Target() string {
	target := r.Field("WARC-Target-URI")
	if inside, found := strings.CutPrefix(target, "<"); found {
		target = strings.TrimSuffix(inside, ">")
	}
	return target
}

// Time returns the time of the capture (WARC-Date).
func (r *Record) Time() (time.Time, error) {
	at, err := time.Parse(time.RFC3339, r.Field("WARC-Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("WARC-Date %.40q: want a time such as 2026-11-21T22:00:00Z", r.Field("WARC-Date"))
	}
	return at.UTC(), nil
}

// Read implements io.Reader for the block.
func (r *Record) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.reader.bytes().Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if r.left > 0 {
		err = early(err)
	} else if err == io.EOF {
		err = nil
	}
	return n, err
}

// Reader reads the records of a WARC file, one after another.
type Reader struct {
	raw    *source // file that is read
	inside *member // the gzip member that is being read; nil between members and in uncompressed files
	spare  *member // memory that the next gzip member reuses
	open   *Record // the record that is being read; nil after Finish
	again  int64   // number of bytes that may still be read a second time, to find the next record after damaged ones

	gzipped bool // whether a gzip member was found in the file
}

// NewReader returns a reader of a file with size bytes.
func NewReader(file io.ReaderAt, size int64) *Reader {
	return &Reader{raw: newSource(file, size), spare: new(member), again: size + minAgain}
}

// Offset returns the position in bytes up to which the file was read.
func (r *Reader) Offset() int64 { return r.raw.offset() }

// At moves the reader to a position, and returns the record there. The position must be that of a
// Record that the reader returned before. If the record is in a gzip member, At must decompress the
// member up to the record. If the reader is in this member, before the record, At goes on from
// there. Otherwise it decompresses the member from its beginning.
func (r *Reader) At(to Place) (*Record, error) {
	r.open = nil
	if at := r.place(); r.inside == nil || at.Offset != to.Offset || at.Inside > to.Inside {
		r.inside = nil
		r.raw.seek(to.Offset)
		if magic, _ := r.raw.Peek(len(gzipMagic)); bytes.Equal(magic, gzipMagic) {
			r.gzipped = true
			if err := r.enter(); err != nil {
				return nil, &Fault{to, err}
			}
		}
	}
	if r.inside != nil {
		if _, err := io.CopyN(io.Discard, r.inside, to.Inside-r.inside.offset()); err != nil {
			return nil, &Fault{to, early(err)}
		}
	}
	return r.header()
}

// bytes returns the reader of the data at the present position: the content of the present gzip
// member, or the file if there is none.
func (r *Reader) bytes() *bufio.Reader {
	if r.inside != nil {
		return r.inside.Reader
	}
	return r.raw.Reader
}

// place returns the place of the next byte that will be read.
func (r *Reader) place() Place {
	if r.inside != nil {
		return Place{r.inside.start, r.inside.offset()}
	}
	return Place{Offset: r.raw.offset()}
}

// enter begins to read the gzip member at the present position of the file.
func (r *Reader) enter() error {
	if err := r.spare.open(r.raw); err != nil {
		return err
	}
	r.inside = r.spare
	return nil
}

// Next returns the next record, and io.EOF after the last one. A record that cannot be read
// gives a *Fault; Next can be called again then. Any other error means that the file could not
// be read.
func (r *Reader) Next() (*Record, error) {
	if err := r.Finish(); err != nil {
		return nil, err
	}
	for {
		begin, err := r.bytes().Peek(1)
		switch {
		case err == io.EOF && r.inside != nil:
			r.inside = nil
			continue
		case err == io.EOF:
			return nil, io.EOF
		case err != nil:
			return nil, r.fault(r.place(), err)
		}
		if begin[0] == '\r' || begin[0] == '\n' {
			if _, err := r.bytes().Discard(1); err != nil {
				return nil, err
			}
			continue
		}
		if r.inside == nil {
			magic, _ := r.raw.Peek(len(gzipMagic))
			if bytes.Equal(magic, gzipMagic) {
				at := r.place()
				r.gzipped = true
				if err := r.enter(); err != nil {
					return nil, r.fault(at, err)
				}
				continue
			}
		}
		return r.header()
	}
}

// header reads the header of the record that begins at the present position. If the header is
// damaged, it moves the reader to the next record and returns a *Fault.
func (r *Reader) header() (*Record, error) {
	record := &Record{Place: r.place(), reader: r}
	err := r.readHeader(record)
	if err != nil {
		return nil, r.fault(record.Place, err)
	}
	if r.inside == nil && record.Length > r.raw.size-r.raw.offset() {
		return nil, r.fault(record.Place, errCut)
	}
	record.left = record.Length
	r.open = record
	return record, nil
}

// readHeader reads the lines of a header into a record.
func (r *Reader) readHeader(record *Record) error {
	if begin, _ := r.bytes().Peek(len(version)); !strings.HasPrefix(version, string(begin)) {
		return errVersion
	}
	lines := lineReader{from: r.bytes(), most: maxHeader}
	first, err := lines.next()
	if err == nil && first != "WARC/1.0" && first != "WARC/1.1" {
		err = errVersion
	}
	if err != nil {
		return err
	}
	for {
		line, err := lines.next()
		if err != nil {
			return err
		}
		if line == "" {
			break
		}
		if last := len(record.fields) - 1; last >= 0 && (line[0] == ' ' || line[0] == '\t') {
			record.fields[last].value = strings.TrimSpace(record.fields[last].value + " " + strings.TrimSpace(line))
			continue
		}
		name, value, found := strings.Cut(line, ":")
		if !found {
			return fmt.Errorf("line %.40q of the header has no colon", line)
		}
		record.fields = append(record.fields, field{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	record.Type = strings.ToLower(record.Field("WARC-Type"))
	length, err := strconv.ParseInt(record.Field("Content-Length"), 10, 64)
	if err != nil || length < 0 {
		return errLength
	}
	record.Length = length
	return nil
}

// lineReader reads the lines of a header of limited size.
type lineReader struct {
	from *bufio.Reader
	most int // greatest number of bytes that the remaining lines of the header may take
}

// next returns the next line, without its line end. It fails with errHeader if the header exceeds
// its limit.
func (l *lineReader) next() (string, error) {
	line, err := l.from.ReadSlice('\n')
	l.most -= len(line)
	switch {
	case l.most < 0, err == bufio.ErrBufferFull:
		return "", errHeader
	case err != nil:
		return "", early(err)
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// Finish reads the rest of the present record and checks its end. If the record is damaged, it
// returns a *Fault, and the caller must not use what it has read from the record.
func (r *Reader) Finish() error {
	record := r.open
	if record == nil {
		return nil
	}
	r.open = nil
	if _, err := io.CopyN(io.Discard, record, record.left); err != nil {
		return r.fault(record.Place, early(err))
	}
	end, err := r.bytes().Peek(4)
	if err != nil && err != io.EOF {
		return r.fault(record.Place, err)
	}
	blank := len(end) - len(bytes.TrimLeft(end, "\r\n"))
	if blank == 0 && len(end) > 0 || len(end) > blank && bytes.Count(end[:blank], []byte("\n")) < 2 {
		return r.fault(record.Place, errEnd)
	}
	if _, err := r.bytes().Discard(blank); err != nil {
		return r.fault(record.Place, err)
	}
	if _, err := r.bytes().Peek(1); err != nil && err != io.EOF { // the checksum of a member, when the record is its last
		return r.fault(record.Place, err)
	}
	return nil
}
