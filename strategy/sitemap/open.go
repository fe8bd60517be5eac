package sitemap

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

const bufferSize = 64 << 10

// open returns a reader of the text of the sitemap or feed in r: decompressed if r is gzip, and
// without byte order mark and leading white space. The reader fails if the text has more than
// MaxBytes.
func open(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, bufferSize)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		r = unzipped
	} else {
		r = in
	}
	in = bufio.NewReaderSize(&capped{reader: r, left: MaxBytes}, bufferSize)
	if mark, _ := in.Peek(3); string(mark) == "\uFEFF" {
		_, _ = in.Discard(len(mark))
	}
	for {
		if _, err := in.Peek(1); err != nil && err != io.EOF {
			return nil, err
		}
		ready, _ := in.Peek(in.Buffered())
		rest := bytes.TrimLeft(ready, " \t\n\r")
		_, _ = in.Discard(len(ready) - len(rest))
		if len(rest) > 0 || len(ready) == 0 {
			return in, nil
		}
	}
}

// capped is a reader that fails if there are more bytes than allowed. It does not simply end after
// the allowed bytes: then a sitemap that was cut off would look complete.
type capped struct {
	reader io.Reader
	left   int // number of bytes that may still be read
}

func (c *capped) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p[:min(len(p), c.left+1)])
	if n > c.left {
		return c.left, fmt.Errorf("more than %d bytes", MaxBytes)
	}
	c.left -= n
	return n, err
}
