package index

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// draftOf returns the draft of a page.
func draftOf(url, title string) *draft {
	p := new(draft)
	p.URL, p.Title = url, title
	return p
}

func TestStartPages(t *testing.T) {
	pages := func(base, title string, n int, more ...*draft) []*draft {
		for i := range n {
			more = append(more, draftOf(fmt.Sprintf("%sx%02d.html", base, i), fmt.Sprintf(title, i)))
		}
		return more
	}
	for _, test := range []struct {
		name  string
		pages []*draft
		want  map[string][]string // names by URL
	}{
		{"root", pages("https://a.example/docs/", "%d - Manual - Foo | Foo Docs", 30, draftOf("https://a.example/", "Start")),
			map[string][]string{"https://a.example/": {"Foo Docs", "Start"}}},
		{"index.html and the root", pages("https://a.example/x", "Foo: %d", 20, draftOf("https://a.example/", "Foo"), draftOf("https://a.example/index.html", "Foo")),
			map[string][]string{"https://a.example/": {"Foo", "Foo"}, "https://a.example/index.html": {"Foo", "Foo"}}},
		{"common directory", pages("https://a.example/docs/15/", "%d", 20, draftOf("https://a.example/docs/15/index.html", "Docs")),
			map[string][]string{"https://a.example/docs/15/index.html": {"Docs"}}},
		{"few pages of a directory", pages("https://a.example/docs/15/", "%d", 3, draftOf("https://a.example/docs/15/", "Docs")), map[string][]string{}},
		{"few pages of a host", []*draft{draftOf("https://a.example/", "A - B"), draftOf("https://b.example/", "C"), draftOf("https://b.example/x", "D - E")},
			map[string][]string{"https://a.example/": {"A - B"}, "https://b.example/": {"C"}}},
		{"none", pages("https://a.example/a/", "%d", 20, pages("https://a.example/b/", "%d", 20)...), map[string][]string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			nameStartPages(test.pages)
			got := map[string][]string{}
			for _, p := range test.pages {
				if p.SiteNames != nil {
					got[p.URL] = p.SiteNames
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}
