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
	errNoRoom   = errors.New("other pages take the memory")
)

// wire reads the body of a response as it is transferred, before it is decoded. Reading fails with
// errTooBig after more than limit bytes, and with errTooSlow if the average rate since the
// beginning is below leastRate.
type wire struct {
	from  io.Reader
	limit int64         // greatest number of bytes that may be transferred
	grace time.Duration // time from the beginning during which the rate is not checked
	now   func() time.Time
	began time.Time
	// large is called once when more than maxSmall bytes are decoded and more are to come; if it fails,
	// reading fails with its error. It may be nil.
	large func() error
	sent  int64 // bytes read so far
	err   error // error that ended the transfer: io.EOF if it is complete; nil while it goes on
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

// check returns errTooBig if more than limit bytes were transferred, errTooSlow if the average rate
// is below leastRate and the grace is over, else nil.
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

// read reads the body of a response and returns it decoded. The parameter encoding is the value of
// the header Content-Encoding. A decoded body of more than limit bytes is an error. With an error,
// read also returns what was decoded before, at most limit bytes.
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

// stream decodes a body, and passes a reader of at most limit decoded bytes to the function use.
// The parameter encoding is the value of the header Content-Encoding. If use does not read the
// whole body, stream reads and drops up to maxDrained more bytes. It returns an error if reading
// failed, for example because the body broke off or is too big. It returns nil at the end of the
// body, and also if bytes are left after maxDrained.
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

// boundedBody reads a decoded body and limits its size, because a compressed body may expand 1,032
// times (gzip) or millions of times (brotli). Reading fails with
//
//	errTooBig   after more than limit bytes
//	errBomb     after more than maxFree bytes, and more than maxRatio times the bytes transferred
//	errNoRoom   after more than maxSmall bytes, if pages of other batches take the memory
type boundedBody struct {
	from  io.Reader // decoder of the body
	wire  *wire     // the encoded body that the decoder reads
	limit int64     // greatest number of decoded bytes
	size  int64     // decoded bytes so far
	err   error     // error that ended reading: io.EOF if the body is complete; nil while it goes on
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
	case c.size > maxSmall && c.wire.large != nil && err == nil:
		err, c.wire.large = c.wire.large(), nil
	}
	c.err = err
	return n, err
}

// errRest is the error of boundedBody.rest for a body that is too long: rest has read and dropped
// maxDrained bytes, but has not reached the end.
var errRest = errors.New("there is more")

// rest reads and drops the rest of the body, up to maxDrained bytes. It returns nil at the end
// of the body, errRest if there is more, and otherwise the error by which the body ended early.
func (c *boundedBody) rest() error {
	switch _, err := io.CopyN(io.Discard, c, maxDrained); {
	case err == nil:
		return errRest
	case err != io.EOF:
		return err
	}
	return nil
}

// fill appends all bytes of a reader to a buffer. It returns nil at the end of the reader.
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

// blame returns the error that best explains why decoding a body failed with err. The first line
// that holds decides:
//
//	a limit was exceeded, or the encoding is unknown   err itself (also errNoRoom)
//	the transfer failed                                the error of the transfer
//	no byte was transferred                            nil: the body is empty
//	the encoded data end too early                     io.ErrUnexpectedEOF
//	otherwise                                          errEncoding: the data are invalid
func blame(err error, w *wire) error {
	switch {
	case err == nil, errors.Is(err, errTooBig), errors.Is(err, errBomb), errors.Is(err, errEncoding), errors.Is(err, errNoRoom):
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

// acceptEncoding is the value of the header Accept-Encoding. It names only content codings that
// fetch can decode (see the type decoders).
const acceptEncoding = "gzip, br, zstd"

// decoders holds a pool of decoders for each content coding (RFC 9110, 8.4). It is safe for
// concurrent use; the zero value is ready to use.
type decoders struct{ gzip, brotli, zstd, deflate sync.Pool }

// decoder decodes one content coding, and can be used for one body after another.
type decoder interface {
	io.Reader
	Reset(from io.Reader) error
}

// read decodes a body: it passes a reader of the decoded body to the given function, and returns
// the function's results. The parameter encoding is the value of the header Content-Encoding; if it
// is unknown, read fails with errEncoding.
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

// newZstd returns a Zstandard decoder with the largest window that HTTP allows: 8 MiB (RFC
// 9659).
func newZstd() (decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
}

// deflated decodes the content coding "deflate": zlib data (RFC 1950) or, because some servers
// send that instead, deflate data without a zlib header (RFC 1951).
type deflated struct {
	from *bufio.Reader
	io.Reader
}

// Reset implements decoder: d then decodes another body, which it reads from the given reader.
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

// through decodes a body: it calls the given function with a decoder of the body, and returns the
// function's results. It takes the decoder from the pool, or creates one, and puts it into the pool
// after success.
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
	if err == nil { // after an error, the brotli decoder would still have input of this body in its buffer
		pool.Put(d)
	}
	return data, err
}
