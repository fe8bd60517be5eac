package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

var (
	errTooBig   = errors.New("the page is too big")
	errTooSlow  = errors.New("the body comes too slowly")
	errBomb     = errors.New("the body expands too far")
	errEncoding = errors.New("the content encoding cannot be read")
)

// wire is a body as it is sent, under caps on its bytes and on its slowness.
type wire struct {
	from  io.Reader
	limit int64         // bytes
	grace time.Duration // after which leastRate must have been reached
	now   func() time.Time
	began time.Time
	sent  int64 // bytes
	err   error // that ended the transfer, io.EOF included
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	w.sent += int64(n)
	if err == nil {
		err = w.check()
	}
	w.err = err
	return n, err
}

func (w *wire) check() error {
	if w.sent > w.limit {
		return fmt.Errorf("%w: at most %d bytes are read", errTooBig, w.limit)
	}
	elapsed := w.now().Sub(w.began)
	if elapsed > w.grace && float64(w.sent) < elapsed.Seconds()*leastRate {
		return fmt.Errorf("%w: %d bytes in %s, at least %d a second are wanted", errTooSlow, w.sent, elapsed.Round(time.Millisecond), leastRate)
	}
	return nil
}

// read returns the content of a body, at most limit bytes of it. What comes
// with an error is what came before.
func (f *Function) read(encoding string, w *wire, limit int64) ([]byte, error) {
	scratch, ok := f.buffers.Get().(*bytes.Buffer)
	if !ok {
		scratch = new(bytes.Buffer)
	}
	defer f.buffers.Put(scratch)
	scratch.Reset()
	data, err := f.decoders.read(encoding, w, func(from io.Reader) ([]byte, error) {
		err := fill(scratch, from, w, limit)
		return scratch.Bytes(), err
	})
	return bytes.Clone(data[:min(int64(len(data)), limit)]), blame(err, w)
}

// fill reads to the end of the content. A body may expand without end
// (gzip by 1,032, brotli by millions) or not at all while it goes on.
func fill(to *bytes.Buffer, from io.Reader, w *wire, limit int64) error {
	for {
		to.Grow(minRead)
		free := to.AvailableBuffer()
		n, err := from.Read(free[:cap(free)])
		to.Write(free[:n])
		size := int64(to.Len())
		switch {
		case size > limit:
			return fmt.Errorf("%w: at most %d bytes are read", errTooBig, limit)
		case size > maxFree && size > w.sent*maxRatio:
			return fmt.Errorf("%w: %d bytes became %d", errBomb, w.sent, size)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// blame tells whether the transfer or the content is at fault for an error.
func blame(err error, w *wire) error {
	switch {
	case err == nil, errors.Is(err, errTooBig), errors.Is(err, errBomb), errors.Is(err, errEncoding):
		return err
	case w.err != nil && w.err != io.EOF:
		return w.err
	case w.sent == 0: // nothing was sent, nothing was encoded
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", errEncoding, err)
}
