package query

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Damage to the newest generation or the hint, and objects that are none of ours,
// leave search and stored copies to what the others tell: nobody hears that the
// store is down.
func TestDamagedGenerations(t *testing.T) {
	for name, c := range map[string]struct {
		harm  func(s *store, newest, hint string)
		total string // of the pages of either generation
	}{
		"newest of no bytes": {func(s *store, newest, _ string) { s.check(s.bucket.Replace(t.Context(), newest, nil)) }, `"total":2,`},
		"newest flipped":     {func(s *store, newest, _ string) { s.check(s.bucket.Replace(t.Context(), newest, s.flipped(newest))) }, `"total":2,`},
		"hint of no bytes":   {func(s *store, _, hint string) { s.check(s.bucket.Replace(t.Context(), hint, nil)) }, `"total":2,`},
		"hint flipped":       {func(s *store, _, hint string) { s.check(s.bucket.Replace(t.Context(), hint, s.flipped(hint))) }, `"total":2,`},
		"hint gone":          {func(s *store, _, hint string) { s.check(s.bucket.Delete(t.Context(), hint)) }, `"total":2,`},
		"newest, hint damaged": {func(s *store, newest, hint string) {
			s.check(s.bucket.Replace(t.Context(), newest, s.flipped(newest)))
			s.check(s.bucket.Replace(t.Context(), hint, nil))
		}, `"total":1,`},
		"foreign, hint gone": {func(s *store, newest, hint string) {
			s.check(s.bucket.Delete(t.Context(), hint))
			s.check(s.bucket.Create(t.Context(), newest[:strings.LastIndexByte(newest, '/')+1]+"zz-notes.txt", []byte("not ours")))
		}, `"total":2,`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, 1)
			s.publish(testPage{url: "https://example.org/old", mime: "text/plain", data: "old", title: "Manual"})
			s.publish(testPage{url: "https://example.org/new", mime: "text/plain", data: "new", title: "Manual"})
			m, err := manifest.Read(t.Context(), s.bucket, 0)
			s.check(err)
			c.harm(s, layout.ManifestKey(0, m.Generation), layout.HintKey(0))
			h := s.handler(s.bucket, io.Discard)
			if w := askJSON(h, "/search?q=manual"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), c.total) {
				t.Errorf("search: %d %s; want %s", w.Code, w.Body, c.total)
			}
			if w := ask(h, "GET", "/page?url=https://example.org/old"); w.Code != http.StatusOK {
				t.Errorf("stored copy: %d %s", w.Code, w.Body)
			}
			if w := ask(h, "GET", "/page?url=https://example.org/unknown"); w.Code != http.StatusNotFound {
				t.Errorf("unknown: %d %s", w.Code, w.Body)
			}
		})
	}
}

// Who is asked all the time finds a generation that was made anew after others
// were lost, whatever its number, within the hour.
func TestGenerationsMadeAnew(t *testing.T) {
	for _, anew := range []uint64{2, 9} {
		s := newStore(t, 1)
		s.publish(testPage{url: "https://example.org/old", mime: "text/plain", data: "old", title: "Manual"})
		h := s.serve()
		s.publish(testPage{url: "https://example.org/lost", mime: "text/plain", data: "lost", title: "Manual"})
		lost, err := manifest.Read(t.Context(), s.bucket, 0)
		s.check(err)
		if lost.Generation < 3 {
			t.Fatalf("generation %d", lost.Generation)
		}
		if w := askJSON(h, "/search?q=manual"); !strings.Contains(w.Body.String(), `"total":2,`) {
			t.Fatalf("search: %s", w.Body)
		}
		for n := uint64(2); n <= lost.Generation; n++ {
			s.check(s.bucket.Delete(t.Context(), layout.ManifestKey(0, n)))
		}
		s.check(s.bucket.Delete(t.Context(), layout.HintKey(0)))
		left, err := manifest.Read(t.Context(), s.bucket, 0)
		s.check(err)
		next := lost.Clone()
		next.Generation, next.Oldest, next.Parent = anew, anew, left.Hash()
		s.check(manifest.Refound(t.Context(), s.bucket, next))
		s.publish(testPage{url: "https://example.org/new", mime: "text/plain", data: "new", title: "Manual"})
		const often = time.Minute
		for range time.Hour / often {
			s.clock.advance(often)
			askJSON(h, "/search?q=manual")
		}
		if w := askJSON(h, "/search?q=manual"); !strings.Contains(w.Body.String(), `"total":3,`) {
			t.Errorf("made anew as generation %d: %s", anew, w.Body)
		}
	}
}
