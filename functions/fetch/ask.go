package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/bucketsearch/bucketsearch/functions/document"
)

// request is one question to a server.
type request struct {
	url            string
	etag, modified string // validators of what is already stored
	limit          int64  // bytes of the body
	lenient        bool   // takes any media type, and cuts a longer body instead of refusing it
}

// answer is what came of a request: an error, or a response. The body is
// decoded, and empty unless the status is 2xx and the request wants the media type.
type answer struct {
	status  int
	header  http.Header
	body    []byte
	sent    int64 // bytes of the body as sent
	address netip.Addr
	began   time.Time
	ended   time.Time
	err     error
}

var (
	errTooBig   = errors.New("the page is too big")
	errEncoding = errors.New("the content encoding cannot be read")
)

// ask puts one request and reads the answer, within Limits.Request.
func (f *Function) ask(ctx context.Context, r request) (a answer) {
	a.began = f.Now()
	defer func() { a.ended = f.Now() }()
	ctx, cancel := context.WithTimeout(ctx, f.Limits.Request)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		a.address = remoteAddress(c.Conn)
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		a.err = err
		return a
	}
	req.Header.Set("User-Agent", f.Agent)
	req.Header.Set("Accept", "text/html, application/xhtml+xml, text/plain;q=0.9, application/xml;q=0.9, */*;q=0.1")
	req.Header.Set("Accept-Encoding", "gzip")
	if r.etag != "" {
		req.Header.Set("If-None-Match", r.etag)
	}
	if r.modified != "" {
		req.Header.Set("If-Modified-Since", r.modified)
	}
	response, err := f.Transport.RoundTrip(req)
	if err != nil {
		a.err = err
		return a
	}
	defer response.Body.Close()
	a.status, a.header = response.StatusCode, response.Header
	body := &counter{from: response.Body}
	a.body, a.err = r.read(response, body)
	a.sent = body.n
	return a
}

func (r request) read(response *http.Response, body io.Reader) ([]byte, error) {
	if response.StatusCode/100 != 2 || !r.wants(response.Header.Get("Content-Type")) {
		// Only worth the connection; an error here says nothing about the answer.
		_, _ = io.CopyN(io.Discard, body, maxDrained)
		return nil, nil
	}
	if response.ContentLength > r.limit && !r.lenient {
		return nil, fmt.Errorf("%w: it claims %d bytes, at most %d are read", errTooBig, response.ContentLength, r.limit)
	}
	decoded, err := decode(response.Header.Get("Content-Encoding"), body)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(decoded, r.limit+1))
	if int64(len(data)) > r.limit {
		if r.lenient {
			return data[:r.limit], nil
		}
		return nil, fmt.Errorf("%w: at most %d bytes are read", errTooBig, r.limit)
	}
	return data, err
}

// wants reports whether a body is read: its type is one that is stored, or
// only its bytes can tell.
func (r request) wants(contentType string) bool {
	return r.lenient || contentType == "" || document.IsText(document.Sniff(nil, contentType))
}

func decode(encoding string, body io.Reader) (io.Reader, error) {
	switch strings.ToLower(encoding) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		decoded, err := gzip.NewReader(body)
		switch {
		case errors.Is(err, io.EOF): // nothing was sent, nothing was compressed
			return body, nil
		case errors.Is(err, gzip.ErrHeader):
			return nil, fmt.Errorf("%w: it is not gzip", errEncoding)
		case err != nil:
			return nil, err
		}
		return decoded, nil
	}
	return nil, fmt.Errorf("%w: %.50q was not asked for", errEncoding, encoding)
}

// remoteAddress returns the address at the other end, or the zero one.
func remoteAddress(c net.Conn) netip.Addr {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}

// counter counts the bytes read through it.
type counter struct {
	from io.Reader
	n    int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}
