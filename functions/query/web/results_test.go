package web

import (
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/google/go-cmp/cmp"
)

func TestCrumbs(t *testing.T) {
	for address, want := range map[string][]string{
		"https://example.org/":                    {"example.org"},
		"http://127.0.0.1:8080/a//b.html":         {"127.0.0.1:8080", "a", "b.html"},
		"https://example.org/a%20b/%E7%9C%9F?q=a": {"example.org", "a b", "真", "?q=a"},
		"mailto:jane@example.org":                 {"jane@example.org"},
		// turns the direction of the text around
		"https://example.org/%E2%80%AEgpj.exe": {"example.org", "%E2%80%AEgpj.exe"},
		"https://example.org/%FF/%0A/100%":     {"example.org", "%FF", "%0A", "100%"},
	} {
		if diff := cmp.Diff(want, crumbs(address)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
	}
}

func TestElided(t *testing.T) {
	for address, want := range map[string]string{
		"a.org/b/c/d/e": "a.org b c d e", "a.org/b/c/d/e/f": "a.org … d e f", "a.org/b/c/d/e/f?g": "a.org … e f ?g",
	} {
		if got := strings.Join(elided(crumbs("https://"+address)), " "); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}

func TestPager(t *testing.T) {
	for _, test := range []struct {
		from, size, total int
		previous, next    string
		first, last       int // first and last page numbers that are shown
		current           int
	}{
		{0, 10, 0, "", "", 0, 0, 0},
		{0, 10, 10, "", "", 0, 0, 0},
		{0, 10, 11, "", "/search?from=10&q=a", 1, 2, 1},
		{10, 10, 11, "/search?q=a", "", 1, 2, 2},
		{5, 10, 11, "/search?q=a", "", 1, 2, 0}, // at a number that begins no page of results
		{50, 10, 1000, "/search?from=40&q=a", "/search?from=60&q=a", 3, 9, 6},
		{990, 10, 1000, "/search?from=980&q=a", "", 94, 100, 100},
		{9990, 10, 1e6, "/search?from=9980&q=a", "", 994, 1000, 1000},
		{9960, 30, 1e6, "/search?from=9930&n=30&q=a", "", 327, 333, 333},
		{20, 10, 5, "/search?q=a", "", 1, 1, 0}, // after the last hit
	} {
		p := newPager(engine.Query{Query: search.Query{Text: "a", From: test.from, Size: test.size}}, test.total, true)
		first, last, current := 0, 0, 0
		for _, n := range p.Numbers {
			if first == 0 {
				first = n.Number
			}
			last = n.Number
			if n.Current {
				current = n.Number
			}
		}
		if p.Previous != test.previous || p.Next != test.next || first != test.first || last != test.last || current != test.current {
			t.Errorf("%+v: previous %q, next %q, numbers %d to %d, current %d", test, p.Previous, p.Next, first, last, current)
		}
	}
}
