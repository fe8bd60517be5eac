package warc

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
)

const (
	bufferSize = 64 << 10
	maxProbe   = 4 << 10  // bytes of a file in which a gzip member must show that it holds a record
	maxFree    = 64 << 20 // bytes to which any member may expand
	maxRatio   = 200      // bytes of content a byte of a member, beyond them
)

// source is the bytes of a file, from any of them on.
type source struct {
	file io.ReaderAt
	size int64
	from *io.SectionReader
	*bufio.Reader
}

func newSource(file io.ReaderAt, size int64) *source {
	s := &source{file: file, size: size, from: io.NewSectionReader(file, 0, size)}
	s.Reader = bufio.NewReaderSize(s.from, bufferSize)
	return s
}

// offset returns the place of the next byte.
func (s *source) offset() int64 {
	at, _ := s.from.Seek(0, io.SeekCurrent) // of a section reader: cannot fail
	return at - int64(s.Buffered())
}

// seek makes a byte the next one. What is in the buffer is not read again.
func (s *source) seek(to int64) {
	if ahead := to - s.offset(); ahead >= 0 && ahead <= int64(s.Buffered()) {
		_, _ = s.Discard(int(ahead)) // of what is buffered: cannot fail
		return
	}
	_, _ = s.from.Seek(to, io.SeekStart)
	s.Reset(s.from)
}

// member is the content of one gzip member.
type member struct {
	from   *source
	start  int64 // its place in the file
	gzip   *gzip.Reader
	size   int64 // bytes of content so far
	broken error // what is wrong with its gzip data
	*bufio.Reader
}

var gzipMagic = []byte{0x1F, 0x8B, 8}

// open reads the header of the gzip member at the place of the source.
func (m *member) open(from *source) error {
	m.from, m.start, m.size, m.broken = from, from.offset(), 0, nil
	var err error
	if m.gzip == nil {
		m.gzip, err = gzip.NewReader(from.Reader)
	} else {
		err = m.gzip.Reset(from.Reader)
	}
	if err != nil {
		m.broken = early(err)
		return m.broken
	}
	m.gzip.Multistream(false)
	if m.Reader == nil {
		m.Reader = bufio.NewReaderSize(nil, bufferSize)
	}
	m.Reset(memberContent{m})
	return nil
}

// offset returns the place in the content of the next byte.
func (m *member) offset() int64 { return m.size - int64(m.Buffered()) }

// memberContent reads the content of a member; the error that ends it early stays.
type memberContent struct{ *member }

func (c memberContent) Read(p []byte) (int, error) {
	m := c.member
	if m.broken != nil {
		return 0, m.broken
	}
	n, err := m.gzip.Read(p)
	m.size += int64(n)
	switch sent := m.from.offset() - m.start; {
	case err != nil && err != io.EOF:
		m.broken = early(err)
		err = m.broken
	case m.size > maxFree && m.size > sent*maxRatio:
		m.broken = errBomb
		err = m.broken
	}
	return n, err
}

// early returns the error of a part of a file that ends too early.
func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// holdsRecord reports whether the content of the gzip member at a byte of the file begins
// with "WARC/1.", as a record does, and how many bytes it read to tell.
func (s *source) holdsRecord(at int64) (is bool, read int64) {
	section := io.NewSectionReader(s.file, at, min(maxProbe, s.size-at))
	z, err := gzip.NewReader(bufio.NewReaderSize(section, 512))
	if err == nil {
		begin := make([]byte, len(version))
		_, err = io.ReadFull(z, begin)
		is = err == nil && string(begin) == version
	}
	read, _ = section.Seek(0, io.SeekCurrent)
	return is, read
}

// find looks for a mark from a place in the file on, and returns the mark's place.
func (s *source) find(from int64, mark []byte) (at int64, found bool, err error) {
	s.seek(from)
	for {
		window, err := s.Peek(bufferSize)
		if err != nil && err != io.EOF {
			return 0, false, err
		}
		if i := bytes.Index(window, mark); i >= 0 {
			return s.offset() + int64(i), true, nil
		}
		if err == io.EOF {
			return 0, false, nil
		}
		if _, err := s.Discard(len(window) - len(mark) + 1); err != nil {
			return 0, false, err
		}
	}
}
