package fetch

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// FuzzRead decodes arbitrary bytes in any content coding, twice. The limits must hold, and both
// results must be the same.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "<p>text", strings.Repeat("x", 10_000)} {
		f.Add("gzip", gzipped(f, strings.NewReader(text)))
		f.Add("br", brotlied(f, strings.NewReader(text)))
		f.Add("zstd", zstded(f, strings.NewReader(text)))
		f.Add("", []byte(text))
	}
	f.Add("br", []byte("70000000000")) // ends before its input does
	function := &Function{}            // its decoders see every input
	f.Fuzz(func(t *testing.T, coding string, body []byte) {
		const limit = 1 << 12
		read := func() ([]byte, error) {
			w := &wire{from: bytes.NewReader(body), limit: limit, grace: time.Hour, now: time.Now, began: time.Now()}
			return function.read(coding, w, limit)
		}
		first, failure := read()
		if len(first) > limit {
			t.Errorf("%d bytes of at most %d", len(first), limit)
		}
		again, failsAgain := read()
		if !bytes.Equal(first, again) || (failure == nil) != (failsAgain == nil) {
			t.Errorf("%q and %v, then %q and %v", first, failure, again, failsAgain)
		}
		if failure != nil && judge(failure).reason == "connection" {
			t.Errorf("the transfer is blamed: %v", failure)
		}
	})
}

// TestSlowBody sends a body at half the least rate that is accepted, and at twice this rate. The
// first must be refused when the grace time is over, and the second must be read.
func TestSlowBody(t *testing.T) {
	for rate, want := range map[int]error{leastRate / 2: errTooSlow, leastRate * 2: nil} {
		now := start
		ticks := func() time.Time { now = now.Add(time.Second); return now }
		w := &wire{from: &repeated{bytes: make([]byte, 1)}, limit: 1 << 20, grace: 10 * time.Second, began: start, now: ticks}
		seconds, err := 0, error(nil)
		for ; err == nil && seconds < 60; seconds++ {
			_, err = w.Read(make([]byte, rate))
		}
		if !errors.Is(err, want) {
			t.Errorf("%d bytes a second: %v", rate, err)
		}
		if want != nil && seconds != 11 {
			t.Errorf("%d bytes a second: refused after %d seconds", rate, seconds)
		}
	}
}

func gzipped(t testing.TB, content io.Reader) []byte {
	return pack(t, content, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func brotlied(t testing.TB, content io.Reader) []byte {
	return pack(t, content, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
}

func zstded(t testing.TB, content io.Reader) []byte {
	return pack(t, content, func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		return z
	})
}

func pack(t testing.TB, content io.Reader, writer func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var b bytes.Buffer
	z := writer(&b)
	if _, err := io.Copy(z, content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zeros is a reader of endless zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// repeated is a reader that repeats bytes endlessly.
type repeated struct {
	bytes []byte
	at    int
	sent  *atomic.Int64 // counts the bytes that were read; nil if they are not counted
}

// repeat returns a reader that repeats a piece endlessly, and adds the bytes that it has delivered
// to the given counter.
func repeat(piece []byte, delivered *atomic.Int64) *repeated {
	// a few copies of the piece, of 32 KB together or more
	return &repeated{bytes: bytes.Repeat(piece, 1+(32<<10)/len(piece)), sent: delivered}
}

func (a *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], a.bytes[a.at:])
		n, a.at = n+c, (a.at+c)%len(a.bytes)
	}
	if a.sent != nil {
		a.sent.Add(int64(n))
	}
	return n, nil
}

// raw returns a handler that sends the given bytes as its whole response and closes the connection.
func raw(response string) http.HandlerFunc { return rawThen(response, nil) }

// served counts the bytes that the tests' servers have sent in answers without an end.
var served atomic.Int64

// rawThen returns a handler that sends the given bytes as a response, and then a piece again and
// again until the client hangs up.
func rawThen(response string, piece []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer connection.Close()
		if _, err := io.WriteString(connection, response); err == nil && piece != nil {
			_, _ = io.Copy(connection, repeat(piece, &served))
		}
	}
}
