package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

var (
	errTooBig   = errors.New("the page is too big")
	errTooSlow  = errors.New("the body comes too slowly")
	errBomb     = errors.New("the body expands too far")
	errEncoding = errors.New("the content encoding cannot be read")
)

// wire reads a body as it is transferred, before it is decoded. It limits the number of
// bytes and demands a least rate.
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

// read returns the decoded body, at most limit bytes. With an error it returns
// the bytes that were decoded before.
func (f *Function) read(encoding string, w *wire, limit int64) ([]byte, error) {
	scratch, ok := f.buffers.Get().(*bytes.Buffer)
	if !ok {
		scratch = new(bytes.Buffer)
	}
	defer f.buffers.Put(scratch)
	scratch.Reset()
	data, err := f.decoders.read(encoding, w, func(from io.Reader) ([]byte, error) {
		err := fill(scratch, &boundedBody{from: from, wire: w, limit: limit})
		return scratch.Bytes(), err
	})
	return bytes.Clone(data[:min(int64(len(data)), limit)]), blame(err, w)
}

// stream calls use with a reader of the decoded body, of which use may read a
// part. It returns the error that ended the body early, nil for none.
func (f *Function) stream(encoding string, w *wire, limit int64, use func(io.Reader)) error {
	_, err := f.decoders.read(encoding, w, func(from io.Reader) ([]byte, error) {
		c := &boundedBody{from: from, wire: w, limit: limit}
		use(c)
		return nil, c.rest()
	})
	if err == errRest {
		return nil
	}
	return blame(err, w)
}

// boundedBody limits a decoded body, which may be far longer than its encoding
// (gzip 1,032 times, brotli millions of times), and which may yield no bytes while
// the encoding goes on.
type boundedBody struct {
	from  io.Reader
	wire  *wire
	limit int64 // bytes
	size  int64 // bytes so far
	err   error // that ended it, io.EOF included
}

func (c *boundedBody) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.from.Read(p)
	c.size += int64(n)
	switch {
	case c.size > c.limit:
		err = fmt.Errorf("%w: at most %d bytes are read", errTooBig, c.limit)
	case c.size > maxFree && c.size > c.wire.sent*maxRatio:
		err = fmt.Errorf("%w: %d bytes became %d", errBomb, c.wire.sent, c.size)
	}
	c.err = err
	return n, err
}

// errRest means that a body was not read to its end.
var errRest = errors.New("there is more")

// rest reads and drops the rest of the body, up to maxDrained bytes, and returns
// the error that ended the body early.
func (c *boundedBody) rest() error {
	switch _, err := io.CopyN(io.Discard, c, maxDrained); {
	case err == nil:
		return errRest
	case err != io.EOF:
		return err
	}
	return nil
}

func fill(to *bytes.Buffer, from io.Reader) error {
	for {
		to.Grow(minRead)
		free := to.AvailableBuffer()
		n, err := from.Read(free[:cap(free)])
		to.Write(free[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// blame returns the error that explains best why a body could not be decoded: a limit,
// else an error of the transfer, else an early end, else a wrong encoding. An empty
// transfer is no error.
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

// acceptEncoding lists what decoders can read.
const acceptEncoding = "gzip, br, zstd"

// decoders are pools of decoders of content codings (RFC 9110, 8.4). They are safe
// for concurrent use; the zero value is ready to use.
type decoders struct{ gzip, brotli, zstd, deflate sync.Pool }

type decoder interface {
	io.Reader
	Reset(from io.Reader) error
}

func (d *decoders) read(encoding string, body io.Reader, all func(io.Reader) ([]byte, error)) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return all(body)
	case "gzip", "x-gzip":
		return through(&d.gzip, func() (decoder, error) { return new(gzip.Reader), nil }, body, all)
	case "br":
		return through(&d.brotli, func() (decoder, error) { return new(brotli.Reader), nil }, body, all)
	case "zstd":
		return through(&d.zstd, newZstd, body, all)
	case "deflate":
		return through(&d.deflate, func() (decoder, error) { return new(deflated), nil }, body, all)
	}
	return nil, fmt.Errorf("%w: %.50q was not asked for", errEncoding, encoding)
}

// newZstd returns a decoder of windows as large as HTTP allows (RFC 9659).
func newZstd() (decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
}

// deflated decodes the coding deflate: zlib data (RFC 1950) or, as some servers send,
// deflate data without their header (RFC 1951).
type deflated struct {
	from *bufio.Reader
	io.Reader
}

// Reset implements decoder.
func (d *deflated) Reset(from io.Reader) (err error) {
	if d.from == nil {
		d.from = bufio.NewReader(from)
	} else {
		d.from.Reset(from)
	}
	if head, _ := d.from.Peek(2); len(head) == 2 && head[0]&0x8F == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		d.Reader, err = zlib.NewReader(d.from)
	} else {
		d.Reader = flate.NewReader(d.from)
	}
	return err
}

func through(pool *sync.Pool, create func() (decoder, error), body io.Reader, all func(io.Reader) ([]byte, error)) ([]byte, error) {
	d, ok := pool.Get().(decoder)
	if !ok {
		var err error
		if d, err = create(); err != nil {
			return nil, err
		}
	}
	if err := d.Reset(body); err != nil {
		return nil, err
	}
	data, err := all(d)
	if err == nil { // brotli's keeps input that it did not come to, and would begin the next body with it
		pool.Put(d)
	}
	return data, err
}
