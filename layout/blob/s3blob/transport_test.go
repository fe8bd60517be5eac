package s3blob

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const slowBytes = 20 // size of each body, in bytes

// slowStore is a store that takes its time. It pauses for the duration up before it reads each byte
// of the request, for the duration wait before it answers, and for the duration down before it sends
// each byte of the answer.
type slowStore struct{ up, wait, down time.Duration }

func (s slowStore) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	for n, err := 1, error(nil); err == nil && n > 0; {
		if err := blob.Sleep(r.Context(), s.up); err != nil {
			return nil, err
		}
		n, err = r.Body.Read(make([]byte, 1))
	}
	if err := blob.Sleep(r.Context(), s.wait); err != nil {
		return nil, err
	}
	return &http.Response{Body: io.NopCloser(&slowBody{r.Context(), s.down, slowBytes})}, nil
}

type slowBody struct {
	ctx   context.Context
	pause time.Duration
	left  int
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if err := blob.Sleep(b.ctx, b.pause); err != nil {
		return 0, err
	}
	b.left--
	return copy(p, "x"), nil
}

// A request whose bytes move slowly goes on until the time limit of the whole request. A request in
// which no byte moves ends earlier, after the time limit for a stall.
func TestBounds(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name  string
		store slowStore
		want  string // of the error; "" for none
		after time.Duration
	}{
		{"slow", slowStore{s, 4 * s, s}, "", (slowBytes + 1 + 4 + slowBytes) * s},
		{"stalls while it takes", slowStore{7 * s, 0, 0}, "no byte moved for 6s", 6 * s},
		{"does not answer", slowStore{0, time.Hour, 0}, "no byte moved for 6s", 6 * s},
		{"stalls while it gives", slowStore{0, s, time.Hour}, "no byte moved for 6s", 7 * s},
		{"too slow", slowStore{0, 0, 5 * s}, "not done after 1m0s", time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://store/key", bytes.NewReader(make([]byte, slowBytes)))
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				response, err := (&bounded{c.store, 6 * s, time.Minute}).RoundTrip(request)
				if err == nil {
					_, err = io.ReadAll(response.Body)
					if errClose := response.Body.Close(); errClose != nil {
						t.Error(errClose)
					}
				}
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				if took := time.Since(began); took != c.after {
					t.Errorf("it took %v, want %v", took, c.after)
				}
			})
		})
	}
}

// lateReader is a RoundTripper that returns at once, without or with an answer, and reads the request's body for some
// time afterwards, as http.Transport may do.
type lateReader struct{ answer *http.Response }

func (l lateReader) RoundTrip(r *http.Request) (*http.Response, error) {
	go func() {
		time.Sleep(time.Second)
		_ = r.Body.Close()
	}()
	if l.answer == nil {
		return nil, io.ErrUnexpectedEOF
	}
	return l.answer, nil
}

// The content of a request belongs to the caller again when the request has failed, or when the body of the answer was
// closed: then nobody reads it any more.
func TestBodyIsFree(t *testing.T) {
	for name, inner := range map[string]lateReader{"failure": {}, "answer": {&http.Response{Body: http.NoBody}}} {
		synctest.Test(t, func(t *testing.T) {
			body := &closing{Reader: strings.NewReader("content")}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://store/key", body)
			if err != nil {
				t.Fatal(err)
			}
			request.ContentLength = int64(body.Len())
			if response, err := (&bounded{inner, time.Minute, time.Minute}).RoundTrip(request); err == nil {
				_ = response.Body.Close()
			}
			if !body.closed {
				t.Errorf("%s: the body may still be read", name)
			}
		})
	}
}

// closing is a body that remembers whether it was closed.
type closing struct {
	*strings.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestLargeBodies checks that the time limits of a request grow with the size of its body.
func TestLargeBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://store/key", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		request.ContentLength = 1 << 30
		began := time.Now()
		_, err = (&bounded{slowStore{wait: time.Hour}, 6 * time.Second, time.Minute}).RoundTrip(request)
		if took := time.Since(began); err == nil || took != (6+128)*time.Second {
			t.Errorf("it failed after %v: %v", took, err)
		}
	})
}

// The caller's context ends before any time limit is reached. The error of the request must be that
// of the context.
func TestBoundsOfTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://store/key", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&bounded{slowStore{wait: time.Hour}, time.Minute, time.Minute}).RoundTrip(request); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
