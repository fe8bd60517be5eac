package fetch

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

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

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// again repeats bytes without end.
type again struct {
	bytes []byte
	at    int
}

func (a *again) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], a.bytes[a.at:])
		n, a.at = n+c, (a.at+c)%len(a.bytes)
	}
	return n, nil
}

// raw answers with bytes of its own and closes the connection.
func raw(response string) http.HandlerFunc { return rawThen(response, nil) }

// rawThen answers with bytes of its own, and a piece again and again until the
// other side has had enough.
func rawThen(response string, piece []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer connection.Close()
		if _, err := io.WriteString(connection, response); err == nil && piece != nil {
			_, _ = io.Copy(connection, &again{bytes: piece})
		}
	}
}
