package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Capture is an HTTP response that an archive holds.
type Capture struct {
	Time    time.Time  // time of the response
	Address netip.Addr // IP address of the server; zero if it is not known
	Status  int
	Header  http.Header
	Body    []byte // body as sent, without Transfer-Encoding, but still encoded by its Content-Encoding
	// Cut says why the archive holds only the beginning of the body (WARC-Truncated): length,
	// time, disconnect or unspecified. It is "" if the archive holds the whole body.
	Cut string
}

var (
	// errAnswer means that a block does not begin with an HTTP status line.
	errAnswer = errors.New("the block is no HTTP answer")
	// ErrShort means that a body is shorter than its Content-Length says, or ends before its last
	// chunk.
	ErrShort = errors.New("the body ends before its announced length")
)

// Capture reads the block of a response or resource record. It reads at most limit + 1 bytes of
// the body. If the body is longer than limit, the Capture has limit + 1 bytes of it.
func (r *Record) Capture(limit int64) (c Capture, err error) {
	if c.Time, err = r.Time(); err != nil {
		return c, err
	}
	c.Cut = strings.ToLower(r.Field("WARC-Truncated"))
	c.Address, _ = netip.ParseAddr(r.Field("WARC-IP-Address"))
	if r.Type == "resource" {
		c.Status, c.Header = http.StatusOK, http.Header{}
		if kind := r.Field("Content-Type"); kind != "" {
			c.Header.Set("Content-Type", kind)
		}
		c.Body, err = io.ReadAll(io.LimitReader(r, limit+1))
		return c, err
	}
	block := bufio.NewReaderSize(r, maxHeader+1)
	if c.Status, c.Header, err = readAnswer(block); err != nil {
		return c, err
	}
	return c, c.readBody(block, limit)
}

// Status returns the status and header of a response or resource record, without reading the
// body. A resource has the status 200 and an empty header.
func (r *Record) Status() (status int, header http.Header, err error) {
	if r.Type == "resource" {
		return http.StatusOK, http.Header{}, nil
	}
	return readAnswer(bufio.NewReaderSize(r, maxHeader+1))
}

// readAnswer reads the status line and the header of an HTTP response (RFC 9112). It ignores
// header lines without a field name.
func readAnswer(block *bufio.Reader) (status int, header http.Header, err error) {
	lines := lineReader{from: block, most: maxHeader}
	first, err := lines.next()
	if err != nil {
		return 0, nil, unanswered(err)
	}
	protocol, rest, _ := strings.Cut(first, " ")
	code, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	status, errCode := strconv.Atoi(code)
	if !strings.HasPrefix(strings.ToUpper(protocol), "HTTP") || errCode != nil || status < 100 || status > 999 {
		return 0, nil, fmt.Errorf("%w: it begins with %.40q", errAnswer, first)
	}
	header = make(http.Header)
	last := ""
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF): // an answer without a body
			return status, header, nil
		case err != nil:
			return 0, nil, err
		case line == "":
			return status, header, nil
		}
		if values := header[last]; (line[0] == ' ' || line[0] == '\t') && len(values) > 0 {
			values[len(values)-1] = strings.TrimSpace(values[len(values)-1] + " " + strings.TrimSpace(line))
			continue
		}
		name, value, found := strings.Cut(line, ":")
		if !found || strings.TrimSpace(name) == "" {
			continue
		}
		last = http.CanonicalHeaderKey(strings.TrimSpace(name))
		header.Add(last, strings.TrimSpace(value))
	}
}

// unanswered returns the error for a status line that could not be read. If the block (the content
// of the record) ended within the line, the error is errAnswer. Otherwise it is err itself.
func unanswered(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errAnswer
	}
	return err
}

// readBody reads at most limit + 1 bytes of the body. It decodes the chunked transfer coding, if
// the archive has kept it. It fails with ErrShort if the body is shorter than its Content-Length or
// its chunks say, unless the archive says that the body was cut.
func (c *Capture) readBody(block *bufio.Reader, limit int64) error {
	begin, _ := block.Peek(maxChunkLine)
	isChunked := strings.Contains(strings.ToLower(c.Header.Get("Transfer-Encoding")), "chunked") && firstChunk.Match(begin)
	from := io.Reader(block)
	if isChunked {
		from = httputil.NewChunkedReader(block)
	}
	content, err := io.ReadAll(io.LimitReader(from, limit+1))
	c.Body = content
	if err != nil {
		switch {
		case !isChunked:
			return err
		case c.Cut == "":
			return fmt.Errorf("%w: %w", ErrShort, err)
		}
	}
	announced, err := strconv.ParseInt(c.Header.Get("Content-Length"), 10, 64)
	isShort := err == nil && !isChunked && c.Cut == "" && announced > int64(len(c.Body)) && int64(len(c.Body)) <= limit
	if !c.decoded() && isShort {
		return fmt.Errorf("%w: %d of %d bytes", ErrShort, len(c.Body), announced)
	}
	return nil
}

// maxChunkLine is the greatest length in bytes of the first line of a chunked body. This line says
// how long the first chunk is. A body with a longer first line is not taken as chunked.
const maxChunkLine = 256

// firstChunk matches the beginning of a body in the chunked transfer coding (RFC 9112, 7.1).
var firstChunk = regexp.MustCompile(`^[0-9A-Fa-f]{1,8}[ \t]*(;[^\r\n]*)?\r?\n`)

// decoded reports whether the body is already decoded although the header has a Content-Encoding.
// Some archives store bodies in this way. In this case, decoded deletes that header field. It
// decides by the first bytes of the body. Data in most codings begin with fixed bytes (see
// codingMarks): if the body does not begin with them, it is decoded. Data in the coding br (Brotli)
// have no fixed beginning: there the body is decoded if it begins with plain text.
func (c *Capture) decoded() bool {
	coding := strings.ToLower(strings.TrimSpace(c.Header.Get("Content-Encoding")))
	mark, known := codingMarks[coding]
	isPlain := known && !bytes.HasPrefix(c.Body, []byte(mark)) || coding == "br" && plainText.Match(c.Body)
	if !isPlain || len(c.Body) == 0 {
		return false
	}
	c.Header.Del("Content-Encoding")
	return true
}

var (
	// codingMarks maps the name of a content coding to the bytes with which all data in this coding
	// begin.
	codingMarks = map[string]string{"gzip": "\x1F\x8B", "x-gzip": "\x1F\x8B", "zstd": "\x28\xB5\x2F\xFD"}
	// plainText matches data that begin with 32 printable ASCII characters.
	plainText = regexp.MustCompile(`^[\t\r\n -~]{32}`)
)
