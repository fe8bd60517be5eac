package warc

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
)

const (
	bufferSize = 64 << 10
	maxProbe   = 4 << 10  // greatest number of compressed bytes that holdsRecord reads of a gzip member
	maxFree    = 64 << 20 // size in bytes of decompressed content up to which maxRatio does not apply
	maxRatio   = 200      // greatest number of decompressed bytes for each compressed byte of a gzip member
)

// source is a buffered reader of a file. The method seek moves it to any byte.
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

// offset returns the reader's position in the file, in bytes.
func (s *source) offset() int64 {
	at, _ := s.from.Seek(0, io.SeekCurrent) // cannot fail for a section reader
	return at - int64(s.Buffered())
}

// seek sets the position in the file at which the next read begins. If the bytes from there on are
// already in the buffer, they are not read from the file again.
func (s *source) seek(to int64) {
	if ahead := to - s.offset(); ahead >= 0 && ahead <= int64(s.Buffered()) {
		_, _ = s.Discard(int(ahead)) // cannot fail for buffered bytes
		return
	}
	_, _ = s.from.Seek(to, io.SeekStart)
	s.Reset(s.from)
}

// member is a buffered reader of the decompressed content of one gzip member.
type member struct {
	from   *source
	start  int64 // position of the member in the file
	gzip   *gzip.Reader
	size   int64 // number of bytes decompressed so far
	broken error // error that ended the decompression of damaged gzip data, or nil
	*bufio.Reader
}

// gzipMagic is the beginning of every gzip member (RFC 1952, 2.3).
var gzipMagic = []byte{0x1F, 0x8B, 8}

// open opens the gzip member at the present position of a file: it reads the member's gzip header.
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

// offset returns the reader's position in the member's decompressed content: how many bytes have
// been read from it.
func (m *member) offset() int64 { return m.size - int64(m.Buffered()) }

// memberContent is an io.Reader of the content of a gzip member, without a buffer. It returns errBomb
// (for a decompression bomb) if the content exceeds maxFree bytes and is more than maxRatio times as
// large as the compressed bytes read for it. After an error it returns the same error again.
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

// early returns io.ErrUnexpectedEOF for io.EOF, and any other error as it is. It is for reads of data
// that must not end yet.
func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// holdsRecord reports whether a gzip member begins at a position of the file, and its content
// begins with "WARC/1.", as a record does. The result read is the number of bytes of the file that
// holdsRecord has read.
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

// find searches the file, from the given position on, for the bytes in the parameter mark. It returns
// the position of the first such bytes. The result found is false if there are none.
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
