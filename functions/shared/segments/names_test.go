package segments

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

func TestNames(t *testing.T) {
	type titled struct{ site, title, heading string }
	for name, c := range map[string]struct {
		pages []titled
		want  []string
	}{
		"by the heading": {
			[]titled{{"a", "Acme: Docs: VACUUM", "VACUUM"}, {"a", "types — Dynamic — Python", "types  — dynamic"}, {"a", "One | Two", "Three"}},
			[]string{"VACUUM", "types — Dynamic", "One | Two"},
		},
		"by what pages share": {
			[]titled{{"a", "One - Guide | Acme", ""}, {"a", "Two - Guide | Acme", ""}, {"a", "Three - Guide | Acme", ""}, {"a", "Four | Acme", ""}, {"b", "One | Acme", ""}, {"a", "Acme", ""}},
			[]string{"One", "Two", "Three", "Four", "One | Acme", "Acme"},
		},
		"the heading is the site": {
			[]titled{{"a", "One — Acme Docs", "Acme Docs"}, {"a", "Two — Acme Docs", "Acme Docs"}, {"a", "Three — Acme Docs", "Acme Docs"}},
			[]string{"One", "Two", "Three"},
		},
	} {
		var pages []*Page
		for _, p := range c.pages {
			d := segment.Document{Site: p.site, Title: p.title, Package: "packages/0000/0.spf"}
			if p.heading != "" {
				d.Headings = []string{p.heading, "Another"}
			}
			pages = append(pages, &Page{Document: d})
		}
		setNames(pages)
		var got []string
		for _, p := range pages {
			got = append(got, p.Name)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
	silent := &Page{Document: segment.Document{Title: "One", Package: "packages/0000/0.spf"}, Silent: true}
	unstored := &Page{Document: segment.Document{Title: "One"}}
	if setNames([]*Page{silent, unstored}); silent.Name+unstored.Name != "" {
		t.Errorf("a page that must not be found is named %q, one that is not stored %q", silent.Name, unstored.Name)
	}
}
