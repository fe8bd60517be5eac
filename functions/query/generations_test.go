package query

import (
	"io"
	"net/http"
	"strings"
	"testing"

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
