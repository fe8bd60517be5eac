package fetch

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// FuzzRead reads any bytes behind any coding, and the same again, within its
// caps.
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

// TestSlowBody has bytes come at half and at twice the least rate.
func TestSlowBody(t *testing.T) {
	for rate, want := range map[int]error{leastRate / 2: errTooSlow, leastRate * 2: nil} {
		now := start
		clock := func() time.Time { now = now.Add(time.Second); return now }
		w := &wire{from: &again{bytes: make([]byte, 1)}, limit: 1 << 20, grace: 10 * time.Second, began: start, now: clock}
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
