package web

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestSuffixes checks that the name of a site is cut from the titles of its pages, and nothing else is.
func TestSuffixes(t *testing.T) {
	for _, test := range []struct{ site, titles, want string }{
		{"docs.example", "A — json — Docs 3; B — Docs 3", "A — json; B"},
		{"docs.example", "A - Zoo; A - Zoo", "A - Zoo; A - Zoo"}, // the same title twice proves nothing
		{"docs.example", "Fish - Birds; Cats - Dogs", "Fish - Birds; Cats - Dogs"},
		{"postgresql.org", "Vacuum | PostgreSQL", "Vacuum"},
		{"my-site.org", "Home :: My Site", "Home"},
		{"example.org", "- Example; | Example", "- Example; | Example"},
	} {
		var hits []search.Hit
		for title := range strings.SplitSeq(test.titles, "; ") {
			hits = append(hits, search.Hit{Document: segment.Document{Site: test.site}, MarkedTitle: []search.Fragment{{Text: title}}})
		}
		names := siteSuffixes(hits)
		var got []string
		for _, h := range hits {
			cut := withoutSuffix(h.MarkedTitle, names[test.site])
			got = append(got, cut[0].Text)
		}
		if diff := cmp.Diff(strings.Split(test.want, "; "), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.titles, diff)
		}
	}
	marked := []search.Fragment{{Text: "The "}, {Text: "fox", Match: true}, {Text: " | Zo"}, {Text: "o", Match: true}}
	if diff := cmp.Diff(marked[:2], withoutSuffix(marked, " | Zoo")); diff != "" {
		t.Errorf("with marks (-want +got):\n%s", diff)
	}
}
