package query

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// TestMissingSegment checks that, if a segment cannot be used, pages of the other segments are found,
// and the client is told that something is missing.
func TestMissingSegment(t *testing.T) {
	for name, harm := range map[string]func(s *store, key string) error{
		"a byte": func(s *store, key string) error {
			content, err := s.Bucket.Get(t.Context(), key, blob.Range{})
			s.Check(err)
			damaged := bytes.Clone(content)
			damaged[len(damaged)-30] ^= 1 // damages the tail
			return s.Bucket.Replace(t.Context(), key, damaged)
		},
		"damaged": func(s *store, key string) error { return s.Bucket.Replace(t.Context(), key, []byte("no segment")) },
		"gone":    func(s *store, key string) error { return s.Bucket.Delete(t.Context(), key) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, 1)
			s.Publish(querytest.Manual(2)...)
			s.Publish(querytest.Page{URL: "https://example.org/lost", MIME: "text/html", Data: "lost", Title: "Manual", Body: "lost"})
			key := s.Commit(0, func(*manifest.Manifest) error { return manifest.ErrUnchanged }).Segments[1].Key
			content, err := s.Bucket.Get(t.Context(), key, blob.Range{})
			s.Check(err)
			s.Check(harm(s, key))
			var log bytes.Buffer
			e := s.logging(s.Bucket, &log)
			h := handlerOf(e)
			for range 3 { // three snapshots, each of which tries to open the segment again
				w := querytest.AskJSON(h, "/search?q=manual")
				if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"total":2,`) || !strings.Contains(w.Body.String(), `"incomplete":true`) {
					t.Errorf("search: %d %s", w.Code, w.Body)
				}
				s.Clock.Advance(e.Age)
			}
			if !strings.Contains(log.String(), key) || strings.Count(log.String(), "\n") != 1 {
				t.Errorf("log, want one line that names it:\n%s", &log)
			}
			if text := parse(t, querytest.Ask(h, "GET", "/search?q=manual").Body.String()).Find(".incomplete").Text(); !strings.Contains(text, "missing") {
				t.Errorf("the page says %q", text)
			}
			if w := querytest.Ask(h, "GET", "/page?url=https://example.org/lost"); w.Code != http.StatusOK || w.Body.String() != "lost" {
				t.Errorf("stored copy: %d %s", w.Code, w.Body)
			}
			s.Check(s.Bucket.Replace(t.Context(), key, content))
			s.Clock.Advance(e.Age)
			if w := querytest.AskJSON(h, "/search?q=manual"); !strings.Contains(w.Body.String(), `"total":3,`) || strings.Contains(w.Body.String(), "incomplete") {
				t.Errorf("mended: %s", w.Body)
			}
		})
	}
}

// TestSegmentsDeletedWhileSearched deletes segments whose tails (the bytes that are needed to open
// them) are still in the cache. It checks that a search ends soon, with the results of the other
// segments.
func TestSegmentsDeletedWhileSearched(t *testing.T) {
	s := newStore(t, 1)
	var words strings.Builder // so many words that they fill several blocks
	random := rand.New(rand.NewPCG(1, 2))
	for range 40_000 {
		fmt.Fprintf(&words, "%016x%016x ", random.Uint64(), random.Uint64())
	}
	words.WriteString("5marker")
	for _, name := range []string{"one", "two", "three"} {
		s.Publish(querytest.Page{URL: "https://example.org/" + name, MIME: "text/html", Data: name, Title: "Manual", Body: words.String()})
	}
	const memory = 32 << 20
	e, err := engine.New(s.Bucket, engine.Options{
		Settings: &settings.Cache{Bucket: s.Bucket, Now: s.Clock.Now, Age: time.Minute}, Now: s.Clock.Now, Age: time.Minute,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Memory: memory,
	})
	s.Check(err)
	search := func(text string) engine.Result {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		found, err := e.Search(ctx, engine.Query{Query: search.Query{Text: text, Size: 10}})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	search("manual")
	segments := s.Commit(0, func(*manifest.Manifest) error { return manifest.ErrUnchanged }).Segments
	if segments[0].Bytes <= memory/8 {
		t.Fatalf("the segment has %d bytes; so small ones are read whole", segments[0].Bytes)
	}
	for _, listed := range segments[:2] {
		s.Check(s.Bucket.Delete(t.Context(), listed.Key))
	}
	for range 2 {
		if found := search("5marker"); found.Total != 1 || !found.Incomplete {
			t.Errorf("found %d, incomplete %v", found.Total, found.Incomplete)
		}
		s.Clock.Advance(e.Age)
	}
}

// TestTooLittleMemory checks that segments that do not fit into the caches are missing from searches,
// and that the log says why.
func TestTooLittleMemory(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(2)...)
	var log bytes.Buffer
	e, err := engine.New(s.Bucket, engine.Options{
		Settings: &settings.Cache{Bucket: s.Bucket, Now: s.Clock.Now, Age: time.Minute}, Now: s.Clock.Now, Age: time.Minute,
		Log: slog.New(slog.NewTextHandler(&log, nil)), Memory: 100,
	})
	s.Check(err)
	if w := querytest.AskJSON(handlerOf(e), "/search?q=manual"); !strings.Contains(w.Body.String(), `"incomplete":true`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "more memory") {
		t.Errorf("log: %s", &log)
	}
}

// TestFormerKeyOfAPackage changes the keys of packages, as happens when pages are erased from them.
// The pages must still be found by way of books and segments, which name the former keys.
func TestFormerKeyOfAPackage(t *testing.T) {
	s := newStore(t, 2)
	s.Publish(querytest.Manual(1)...)
	s.Publish(querytest.Page{URL: "https://example.org/stored-only", MIME: "text/plain", Data: "words", Waits: true})
	e := s.engine(s.Bucket)
	h := handlerOf(e)
	totalOf(t, e, "manual")
	for p := range layout.Partition(2) {
		s.Commit(p, func(m *manifest.Manifest) error {
			for i := range m.Packages {
				listed := &m.Packages[i]
				content, err := s.Bucket.Get(t.Context(), listed.Key, blob.Range{})
				s.Check(err)
				s.Check(s.Bucket.Delete(t.Context(), listed.Key))
				listed.Formerly = []string{listed.Key}
				listed.Key = strings.TrimSuffix(listed.Key, ".spf") + "_1.spf"
				s.Check(s.Bucket.Create(t.Context(), listed.Key, content))
			}
			return nil
		})
	}
	// The snapshot still names the old keys, whose objects are deleted now.
	for _, url := range []string{"https://example0.org/manual", "https://example.org/stored-only"} {
		if w := querytest.Ask(h, "GET", "/page?url="+url); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", url, w.Code, w.Body)
		}
	}
}
