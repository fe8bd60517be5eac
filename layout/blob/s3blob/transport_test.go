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
