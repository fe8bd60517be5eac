package query

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestMissingSegment checks that, if a segment cannot be used, pages of the other segments are found,
// and the client is told that something is missing.
func TestMissingSegment(t *testing.T) {
	for name, harm := range map[string]func(s *store, key string) error{
		"a byte": func(s *store, key string) error {
			content, err := s.bucket.Get(t.Context(), key, blob.Range{})
			s.check(err)
			damaged := bytes.Clone(content)
			damaged[len(damaged)-30] ^= 1 // damages the tail
			return s.bucket.Replace(t.Context(), key, damaged)
		},
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
			for range 3 { // three snapshots, each of which tries to open the segment again
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

// TestSegmentsDeletedWhileSearched deletes segments whose tails (the bytes that are needed to open
// them) are still in the cache. It checks that a search ends soon, with the results of the other
// segments.
func TestSegmentsDeletedWhileSearched(t *testing.T) {
	s := newStore(t, 1)
	var words strings.Builder // so many words that they fill several blocks
	for i := range 20_000 {
		fmt.Fprint(&words, "w", i, " ")
	}
	for _, name := range []string{"one", "two", "three"} {
		s.publish(testPage{url: "https://example.org/" + name, mime: "text/html", data: name, title: "Manual", body: words.String()})
	}
	e := s.engine(s.bucket)
	search := func(text string) Result {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		found, err := e.Search(ctx, Query{Query: search.Query{Text: text, Size: 10}})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	search("manual")
	segments := s.commit(0, func(*manifest.Manifest) error { return manifest.ErrUnchanged }).Segments
	for _, listed := range segments[:2] {
		s.check(s.bucket.Delete(t.Context(), listed.Key))
	}
	for range 2 {
		if found := search("w9999"); found.Total != 1 || !found.Incomplete {
			t.Errorf("found %d, incomplete %v", found.Total, found.Incomplete)
		}
		s.clock.advance(e.Age)
	}
}

// TestTooLittleMemory checks that segments that do not fit into the caches are missing from searches,
// and that the log says why.
func TestTooLittleMemory(t *testing.T) {
	s := newStore(t, 1)
	s.publish(manual(2)...)
	var log bytes.Buffer
	e, err := NewEngine(s.bucket, Options{
		Settings: &settings.Cache{Bucket: s.bucket, Now: s.clock.Now, Age: time.Minute}, Now: s.clock.Now, Age: time.Minute,
		Log: slog.New(slog.NewTextHandler(&log, nil)), Memory: 100,
	})
	s.check(err)
	if w := askJSON(Handler(e), "/search?q=manual"); !strings.Contains(w.Body.String(), `"incomplete":true`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "more memory") {
		t.Errorf("log: %s", &log)
	}
}

// TestCacheAfterTakedown starts processes, one after another, that use the same cache on disk. A
// takedown empties the cache. The test checks that only the first process after a takedown reads
// everything from the bucket again.
func TestCacheAfterTakedown(t *testing.T) {
	s := newStore(t, 1)
	s.publish(manual(3)...)
	dir := t.TempDir()
	gets := func() int64 {
		bucket := countblob.New(s.bucket)
		e, err := NewEngine(bucket, Options{
			Settings: &settings.Cache{Bucket: bucket, Now: s.clock.Now, Age: time.Minute}, Now: s.clock.Now, Age: time.Minute,
			Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Dir: dir, Disk: 1 << 30, Name: "b",
		})
		s.check(err)
		totalOf(t, e, "manual")
		s.check(e.ranges.Close())
		return bucket.Counts().Get
	}
	gets()
	warm := gets()
	_, err := takedown.Forget(t.Context(), s.bucket, takedown.URL(s.address("https://nobody.example/x"), noon))
	s.check(err)
	first, _, third := gets(), gets(), gets()
	if first <= third || third > warm+1 { // the takedown itself may cost some requests
		t.Errorf("GETs: %d with a cache, %d after something was forgotten, at last %d", warm, first, third)
	}
}

// TestFormerKeyOfAPackage changes the keys of packages, as happens when pages are erased from them.
// The pages must still be found by way of books and segments, which name the former keys.
func TestFormerKeyOfAPackage(t *testing.T) {
	s := newStore(t, 2)
	s.publish(manual(1)...)
	s.publish(testPage{url: "https://example.org/stored-only", mime: "text/plain", data: "words", waits: true})
	e := s.engine(s.bucket)
	h := Handler(e)
	totalOf(t, e, "manual")
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
	// The snapshot still names the old keys, whose objects are deleted now.
	for _, url := range []string{"https://example0.org/manual", "https://example.org/stored-only"} {
		if w := ask(h, "GET", "/page?url="+url); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", url, w.Code, w.Body)
		}
	}
}
