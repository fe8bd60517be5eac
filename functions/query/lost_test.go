package query

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// lose deletes all manifests of a partition: its generations (versions), and the hint, which is a
// copy of the newest generation. The function restore puts them back.
func (s *store) lose(p layout.Partition) (restore func()) {
	s.T.Helper()
	listed, err := blob.List(s.T.Context(), s.Bucket, layout.ManifestPrefix(p))
	s.Check(err)
	contents := make(map[string][]byte)
	for _, object := range append(listed, blob.Object{Key: layout.HintKey(p)}) {
		contents[object.Key], err = s.Bucket.Get(s.T.Context(), object.Key, blob.Range{})
		s.Check(err)
		s.Check(s.Bucket.Delete(s.T.Context(), object.Key))
	}
	return func() {
		for key, content := range contents {
			s.Check(s.Bucket.Replace(s.T.Context(), key, content))
		}
	}
}

// TestLostGenerations deletes or damages all generations of a manifest. It checks that the answers
// say that generations are lost, and how to repair this. They must not say that no page is found.
func TestLostGenerations(t *testing.T) {
	const page, asOf = "https://example0.org/manual", "&asof=2026-11-21T12:00:01Z"
	for name, harm := range map[string]func(s *store){
		"deleted": func(s *store) { s.lose(0) },
		"damaged": func(s *store) {
			listed, err := blob.List(t.Context(), s.Bucket, layout.ManifestPrefix(0))
			s.Check(err)
			for _, object := range listed {
				s.Check(s.Bucket.Replace(t.Context(), object.Key, []byte("?")))
			}
			s.Check(s.Bucket.Delete(t.Context(), layout.HintKey(0)))
		},
	} {
		s := newStore(t, 1)
		s.Publish(querytest.Manual(2)...)
		harm(s)
		s.Clock.Advance(time.Second)
		h := s.handler(s.Bucket, io.Discard)
		for _, target := range []string{"/search?q=manual", "/search?q=manual" + asOf, "/page?url=" + page, "/page?url=" + page + asOf} {
			w := querytest.AskJSON(h, target)
			if body := w.Body.String(); w.Code != http.StatusServiceUnavailable || !strings.Contains(body, "generations of partition 0000 are lost") ||
				!strings.Contains(body, "bucketsearch verify --repair") || w.Header().Get("Retry-After") != "" {
				t.Errorf("%s: %s: %d %s", name, target, w.Code, body)
			}
		}
	}
}

// TestOnePartitionIsLost deletes the manifests of one partition. Pages of other partitions must be
// found, with a note. A request for a stored copy that may be in the lost partition must not be
// answered by "no copy is stored". And all pages must be found as soon as repair has made a new
// manifest.
func TestOnePartitionIsLost(t *testing.T) {
	s := newStore(t, 2)
	s.Publish(querytest.Manual(12)...)
	here := -1
	for i, p := range querytest.Manual(12) {
		partition, err := s.Rules.Decide(s.Address(p.URL))
		s.Check(err)
		if partition == 0 {
			here = i
		}
	}
	restore := s.lose(1)
	var log bytes.Buffer
	e := s.logging(s.Bucket, &log)
	h := handlerOf(e)
	for range 3 {
		w := querytest.AskJSON(h, "/search?q=manual")
		if body := w.Body.String(); w.Code != http.StatusOK || strings.Contains(body, `"total":0`) || strings.Contains(body, `"total":12`) ||
			!strings.Contains(body, `"incomplete":true`) || !strings.Contains(body, "generations of partition 0001 are lost") {
			t.Errorf("search: %d %s", w.Code, body)
		}
		s.Clock.Advance(e.Age)
	}
	if text := parse(t, querytest.Ask(h, "GET", "/search?q=manual").Body.String()).Find(".note").Text(); !strings.Contains(text, "partition 0001 are lost") {
		t.Errorf("the page says %q", text)
	}
	if n := strings.Count(log.String(), "a partition is missing"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, &log)
	}
	for i, p := range querytest.Manual(12) {
		partition, err := s.Rules.Decide(s.Address(p.URL))
		s.Check(err)
		want := map[int]int{0: http.StatusOK, 1: http.StatusServiceUnavailable}[partition]
		if w := querytest.Ask(h, "GET", "/page?url="+p.URL); w.Code != want {
			t.Errorf("page %d of partition %d: %d", i, partition, w.Code)
		}
	}
	if w := querytest.Ask(h, "GET", "/page?url="+querytest.Manual(12)[here].URL+"/unknown"); w.Code != http.StatusNotFound {
		t.Errorf("what only partition 0 can have: %d %s", w.Code, w.Body)
	}
	restore()
	s.Clock.Advance(e.Age)
	if w := querytest.AskJSON(h, "/search?q=manual"); !strings.Contains(w.Body.String(), `"total":12,`) || strings.Contains(w.Body.String(), "lost") {
		t.Errorf("made anew: %s", w.Body)
	}
}

// TestLookForLostGenerationsCostsNothing counts the LIST requests by which an engine finds out
// whether manifests are lost. There must be none for a partition that has a manifest. For a new
// partition, which has no manifest yet, there must be none after the first search.
func TestLookForLostGenerationsCostsNothing(t *testing.T) {
	s := newStore(t, 2)
	s.Commit(0, func(*manifest.Manifest) error { return nil })
	bucket := countblob.New(s.Bucket)
	e := s.engine(bucket)
	totalOf(t, e, "manual")
	before := bucket.Counts().List
	for range 5 {
		s.Clock.Advance(e.Age)
		totalOf(t, e, "manual")
	}
	if n := bucket.Counts().List - before; n > 0 {
		t.Errorf("%d listings by an engine that knows the partition to be new", n)
	}
	s.Commit(1, func(*manifest.Manifest) error { return nil })
	before = bucket.Counts().List
	totalOf(t, s.engine(bucket), "manual")
	if n := bucket.Counts().List - before; n > 5 { // the listings of the settings
		t.Errorf("%d listings where all partitions have generations", n)
	}
}
