package fetch

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// acceptEncoding lists what decoders can read.
const acceptEncoding = "gzip, br, zstd"

// decoders of content codings (RFC 9110, 8.4) are used again and again. They
// are safe for concurrent use; the zero decoders are ready.
type decoders struct{ gzip, brotli, zstd sync.Pool }

type decoder interface {
	io.Reader
	Reset(from io.Reader) error
}

// read has a function read all of a body behind its coding.
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
	}
	return nil, fmt.Errorf("%w: %.50q was not asked for", errEncoding, encoding)
}

// newZstd returns a decoder of windows as large as HTTP allows (RFC 9659).
func newZstd() (decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
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
