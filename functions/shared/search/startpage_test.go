package search

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestStartPage checks that the name of a site finds its start page first, and that a query with
// further words finds the page with these words first.
func TestStartPage(t *testing.T) {
	docs := []segment.Document{page("http://foo", "Some words. Pools."), page("http://bar", "Of something else.")}
	for _, name := range []string{"a", "b", "c", "d"} {
		docs = append(docs, page("http://foo/"+name, "foo foo foo and more of foo "+name))
	}
	docs = append(docs, page("http://foo/pools", "foo pools are foo pools"))
	ix := indexOf(t, docs[:3], docs[3:])
	for query, want := range map[string]string{"foo": "http://foo", "foo documentation": "http://foo", "foo pools": "http://foo/pools", "bar": "http://bar"} {
		if got := urls(t, ix, query); len(got) == 0 || got[0] != want {
			t.Errorf("%s finds %q, want %s first", query, got, want)
		}
	}
	for _, hit := range find(t, ix, Query{Text: "foo pools", Size: 10, Explain: true}).Hits {
		if diff := hit.Explanation.Value - hit.Score; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s: the explanation adds up to %v, the score is %v", hit.URL, hit.Explanation.Value, hit.Score)
		}
	}
	if got := urls(t, ix, "more -foo"); len(got) > 0 {
		t.Errorf("found %q", got)
	}
}
