package search

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestLists checks that filters and excluded words without other words list all that they accept: the newest
// first, then pages without a date, each page of hits following the one before, with an exact total.
func TestLists(t *testing.T) {
	var docs []segment.Document
	for i := range 1500 { // more than are always counted
		d := page(fmt.Sprint("http://a/", i), fmt.Sprint("text ", i%7, " of ", i))
		if i%3 == 0 {
			d.Date = noon.AddDate(0, 0, i*i%97)
		}
		if i%2 == 0 {
			d.Site = "even.example"
		}
		docs = append(docs, d)
	}
	ix := indexOf(t, docs[:400], docs[400:900], docs[900:])
	for _, fold := range []bool{false, true} {
		var all []Hit
		for from := 0; from < 750; from += 50 {
			got := find(t, ix, Query{Text: "site:even.example", From: from, Size: 50, Fold: fold, Spread: true})
			if got.Total != 750 || !got.Exact {
				t.Fatalf("total %d, exact: %v", got.Total, got.Exact)
			}
			all = append(all, got.Hits...)
		}
		want := 0
		seen := map[string]bool{}
		for i, hit := range all {
			for _, url := range append([]string{hit.URL}, hit.Alike...) {
				if want++; seen[url] {
					t.Fatalf("%s twice", url)
				}
				seen[url] = true
			}
			if hit.Score != 0 || i > 0 && hit.Date.After(all[i-1].Date) {
				t.Fatalf("hit %d of %s scores %v", i, hit.Date, hit.Score)
			}
		}
		if want != 750 || all[0].Date.Before(noon.AddDate(0, 0, 90)) {
			t.Errorf("folded %v: %d pages, the first of %s", fold, want, all[0].Date)
		}
	}
	for text, total := range map[string]int{"-text": 0, "-site:even.example": 750, "-3 lang:en": 1286, "lang:de": 0, "lang:en after:2026": 500} {
		if got := find(t, ix, Query{Text: text, Size: 10, Facets: []string{Site}}); got.Total != total || !got.Exact {
			t.Errorf("%s: total %d (exact: %v), want %d", text, got.Total, got.Exact, total)
		}
	}
	for _, test := range []struct {
		text  string
		all   bool
		total int
	}{{" ", true, 1500}, {" ", false, 0}, {"?", true, 0}} {
		if got := find(t, ix, Query{Text: test.text, All: test.all, Size: 10}); got.Total != test.total {
			t.Errorf("%q with All %v: total %d, want %d", test.text, test.all, got.Total, test.total)
		}
	}
	image := page("http://a/image", "")
	got := find(t, indexWithout(t, map[layout.Identity]bool{docs[0].ID: true}, append(docs[:3:3], image)), Query{Text: "-nothing", Size: 10})
	if want := []string{"Files without text, such as images, are not listed: 1."}; got.Total != 2 || len(got.Hits) != 2 || !slices.Equal(got.Notes, want) {
		t.Errorf("with an image: total %d, notes %q", got.Total, got.Notes)
	}
	facets := find(t, ix, Query{Text: "lang:en", Facets: []string{Site}}).Facets
	if diff := cmp.Diff([]Facet{{Name: Site, Values: []Count{{"even.example", 750}, {"example.org", 750}}}}, facets); diff != "" {
		t.Errorf("facets (-want +got):\n%s", diff)
	}
}

// TestByDate checks the order of hits by date, and that all matches of a query are sorted, not the best only.
func TestByDate(t *testing.T) {
	docs := []segment.Document{
		dated("http://a/old", "fox fox fox", "2020-05-05"),
		dated("http://a/new", "a fox among very many other words that say nothing of it", "2026-05-05"),
		dated("http://a/best", "fox", "2023-01-02"),
		dated("http://a/same", "a fox among other words", "2023-01-02"),
		page("http://a/undated", "fox"),
		page("http://a/weaker", "fox among others"),
		dated("http://a/other", "dog", "2026-06-06"),
	}
	for i := range 1200 {
		docs = append(docs, dated(fmt.Sprint("http://many/", i), "the fox fox", "2010-01-01"))
	}
	ix := indexOf(t, docs[:3], docs[3:])
	pruning := *ix
	pruning.exactly = 0
	for _, of := range []*Index{ix, &pruning} {
		got := find(t, of, Query{Text: "+fox the", Size: 4, ByDate: true})
		want := []string{"http://a/new", "http://a/best", "http://a/same", "http://a/old"}
		if diff := cmp.Diff(want, each(got.Hits, func(h Hit) string { return h.URL })); diff != "" || got.Total != 1206 || !got.Exact {
			t.Errorf("total %d (-want +got):\n%s", got.Total, diff)
		}
	}
	last := find(t, ix, Query{Text: "fox", From: 1204, Size: 9, ByDate: true, Explain: true}).Hits
	if len(last) != 2 || last[0].URL != "http://a/undated" || last[1].URL != "http://a/weaker" {
		t.Errorf("the last hits are %v", each(last, func(h Hit) string { return h.URL }))
	}
	first := find(t, ix, Query{Text: "fox", Size: 1, ByDate: true, Explain: true}).Hits[0]
	if !first.Date.Equal(docs[1].Date) || first.Score > 10 || first.Explanation.Value < first.Score-1e-4 || first.Explanation.Value > first.Score+1e-4 {
		t.Errorf("first is %v with the score %v, explained as %v", first.Date, first.Score, first.Explanation.Value)
	}
}

// TestAlikeByDate checks that of alike pages the newest is shown, at its place.
func TestAlikeByDate(t *testing.T) {
	text := textOf("a", 300)
	ix := indexOf(t, []segment.Document{
		dated("http://a/1", text, "2025-12-01"), dated("http://a/2/longer", text, "2026-01-01"), dated("http://a/3", "kernel", "2023-01-01"),
	})
	got := find(t, ix, Query{Text: "kernel", Size: 10, Fold: true, ByDate: true})
	if diff := cmp.Diff([]string{"http://a/2/longer", "http://a/3"}, each(got.Hits, func(h Hit) string { return h.URL })); diff != "" || got.Total != 3 {
		t.Errorf("total %d (-want +got):\n%s", got.Total, diff)
	}
	if !slices.Equal(got.Hits[0].Alike, []string{"http://a/1"}) {
		t.Errorf("alike are %q", got.Hits[0].Alike)
	}
}

// TestOwnDates checks the bounds of after: and before:, which go by the pages' own dates, and the note about
// pages without one.
func TestOwnDates(t *testing.T) {
	ix := indexOf(t, []segment.Document{
		dated("http://a/1", "fox", "2025-12-31"), dated("http://a/2", "fox", "2026-01-31"), dated("http://a/3", "fox", "2026-02-01"),
		page("http://a/4", "fox"), page("http://a/5", "dog"),
	})
	for _, test := range []struct {
		text string
		want []string
	}{
		{"fox after:2026", []string{"http://a/2", "http://a/3"}},
		{"fox before:2026", []string{"http://a/1"}},
		{"fox after:2026-01-31 before:2026-02-01", []string{"http://a/2"}},
		{"after:2026-01", []string{"http://a/3", "http://a/2"}},
		{"fox after:2026-01-31T23:00:00Z before:2026-01-31T23:30:00Z", []string{"http://a/2"}},
		{"fox before:1960", []string{}},
	} {
		got := urls(t, ix, test.text)
		if test.text[:3] == "fox" {
			slices.Sort(got)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
		if diff := cmp.Diff([]string{"2 pages were left out because they state no date of their own."}, find(t, ix, Query{Text: test.text}).Notes); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", test.text, diff)
		}
	}
	if got := find(t, ix, Query{Text: "fox", After: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), Size: 9}); got.Total != 2 {
		t.Errorf("Query.After leaves %d pages", got.Total)
	}
}
