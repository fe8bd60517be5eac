package faults

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/verify"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// result is what must not depend on what went wrong.
type result struct {
	States map[string]string // by URL
	Bodies map[string]string // by URL
	Hits   map[string][]hit  // by query
}

type hit struct {
	URL     string
	Score   float64
	Snippet []segment.Fragment
}

// check compares the world with a quiet one and has it verified.
func (w *world) check(want result) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.result()); diff != "" {
		w.t.Errorf("another result than in a quiet run (-want +got):\n%s", diff)
	}
	verifier := verify.Verifier{Bucket: w.store}
	for _, crawl := range w.inForce.Crawl.Partitions() {
		verifier.Frontiers = append(verifier.Frontiers, frontier.New(w.redis, crawl))
	}
	report, err := verifier.Run(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, problem := range report.Problems {
		w.t.Errorf("verify: %s", problem)
	}
}

func (w *world) result() result {
	w.t.Helper()
	books, err := account.Read(w.t.Context(), w.store, w.inForce)
	if err != nil {
		w.t.Fatal(err)
	}
	r := result{States: map[string]string{}, Bodies: map[string]string{}, Hits: map[string][]hit{}}
	for u, err := range books.All() {
		if err != nil {
			w.t.Fatal(err)
		}
		r.States[u.Address.URL] = string(u.State) + " " + u.Reason
		if u.State != account.Stored {
			continue
		}
		page, err := webobject.Read(w.t.Context(), w.store, u.Final.Package, webobject.Place{Offset: u.Final.Offset, Length: u.Final.Length})
		if err != nil {
			w.t.Fatal(err)
		}
		r.Bodies[page.URL] = string(page.Data)
	}
	w.search(books, r.Hits)
	return r
}

// search asks the queries of all that is indexed.
func (w *world) search(books *account.Bucket, hits map[string][]hit) {
	w.t.Helper()
	var segments []*segment.Segment
	for _, m := range books.Manifests {
		for _, listed := range m.Segments {
			content, err := w.store.Get(w.t.Context(), listed.Key, blob.Range{})
			if err != nil {
				w.t.Fatal(err)
			}
			opened, err := segment.Open(content)
			if err != nil {
				w.t.Fatal(err)
			}
			segments = append(segments, opened)
		}
	}
	ix, err := segment.NewIndex(segments)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, query := range queries {
		found, err := ix.Search(w.t.Context(), segment.Query{Text: query, Size: 20})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, h := range found.Hits {
			hits[query] = append(hits[query], hit{h.URL, h.Score, h.Snippet})
		}
	}
}

// TestQuiet says what the other runs are compared with.
func TestQuiet(t *testing.T) {
	got := quiet(t, newRedis(t))
	want := map[string]string{
		"http://one.example/":             "stored ",
		"http://one.example/gull":         "stored ",
		"http://one.example/gull/2":       "stored ",
		"http://one.example/gull/3":       "stored ",
		"http://one.example/heron":        "stored ",
		"http://one.example/new":          "stored ",
		"http://one.example/notes.txt":    "stored ",
		"http://two.example/":             "stored ",
		"http://two.example/reed":         "stored ",
		"http://two.example/reed/bittern": "stored ",
		"http://two.example/reed/rail":    "stored ",
		"http://one.example/old":          "skipped redirect",
		"http://one.example/private/x":    "skipped robots",
		"http://one.example/image.png":    "skipped type",
		"http://one.example/gone":         "failed http 404",
		"http://elsewhere.example/":       "skipped out of scope",
	}
	if diff := cmp.Diff(want, got.States); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if len(got.Bodies) != 11 {
		t.Errorf("%d bodies, want 11", len(got.Bodies))
	}
	for query, want := range map[string]int{"gull": 6, `"grey heron"`: 2, "private": 0} {
		if got := len(got.Hits[query]); got != want {
			t.Errorf("%d hits for %s, want %d", got, query, want)
		}
	}
}
