package query

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// A segment that cannot be used keeps nobody from finding what the others
// hold, and people are told that something is missing.
func TestMissingSegment(t *testing.T) {
	for name, harm := range map[string]func(s *store, key string) error{
		"damaged": func(s *store, key string) error { return s.bucket.Replace(t.Context(), key, []byte("no segment")) },
		"gone":    func(s *store, key string) error { return s.bucket.Delete(t.Context(), key) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, 1)
			s.publish(manual(2)...)
			s.publish(testPage{url: "https://example.org/lost", mime: "text/html", data: "lost", title: "Manual", body: "lost"})
			key := s.commit(0, func(*manifest.Manifest) error { return manifest.ErrUnchanged }).Segments[1].Key
			content, err := s.bucket.Get(t.Context(), key, blob.Range{})
			s.check(err)
			s.check(harm(s, key))
			var log bytes.Buffer
			e := s.logging(s.bucket, &log)
			h := Handler(e)
			for range 3 { // snapshots, each of which tries again
				w := askJSON(h, "/search?q=manual")
				if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"total":2,`) || !strings.Contains(w.Body.String(), `"incomplete":true`) {
					t.Errorf("search: %d %s", w.Code, w.Body)
				}
				s.clock.advance(e.Age)
			}
			if !strings.Contains(log.String(), key) || strings.Count(log.String(), "\n") != 1 {
				t.Errorf("log, want one line that names it:\n%s", &log)
			}
			if text := parse(t, ask(h, "GET", "/search?q=manual").Body.String()).Find(".incomplete").Text(); !strings.Contains(text, "missing") {
				t.Errorf("the page says %q", text)
			}
			if w := ask(h, "GET", "/page?url=https://example.org/lost"); w.Code != http.StatusOK || w.Body.String() != "lost" {
				t.Errorf("stored copy: %d %s", w.Code, w.Body)
			}
			s.check(s.bucket.Replace(t.Context(), key, content))
			s.clock.advance(e.Age)
			if w := askJSON(h, "/search?q=manual"); !strings.Contains(w.Body.String(), `"total":3,`) || strings.Contains(w.Body.String(), "incomplete") {
				t.Errorf("mended: %s", w.Body)
			}
		})
	}
}

// Places in books and segments name a package as it was called when they were
// written.
func TestFormerKeyOfAPackage(t *testing.T) {
	s := newStore(t, 2)
	s.publish(manual(1)...)
	s.publish(testPage{url: "https://example.org/stored-only", mime: "text/plain", data: "words"})
	e := s.engine(s.bucket)
	h := Handler(e)
	total(t, e, "manual")
	for p := range layout.Partition(2) {
		s.commit(p, func(m *manifest.Manifest) error {
			for i := range m.Packages {
				listed := &m.Packages[i]
				content, err := s.bucket.Get(t.Context(), listed.Key, blob.Range{})
				s.check(err)
				s.check(s.bucket.Delete(t.Context(), listed.Key))
				listed.Formerly = []string{listed.Key}
				listed.Key = strings.TrimSuffix(listed.Key, ".spf") + "_1.spf"
				s.check(s.bucket.Create(t.Context(), listed.Key, content))
			}
			return nil
		})
	}
	// The snapshot still names the old keys, which are deleted by now.
	for _, url := range []string{"https://example0.org/manual", "https://example.org/stored-only"} {
		if w := ask(h, "GET", "/page?url="+url); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", url, w.Code, w.Body)
		}
	}
}
