package rules

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/google/go-cmp/cmp"
)

var now = time.Date(2026, 11, 21, 22, 0, 0, 123456789, time.UTC)

func parse(t *testing.T, raw string) address.Address {
	t.Helper()
	a, err := address.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFirstMatchDecides(t *testing.T) {
	d := Even(Crawl, 1, now)
	d.Rules = []Rule{
		{Refuse: true, Pattern: "*://*/cgi-bin/*"},
		{Pattern: "https://example.org/*.pdf", Partition: 7},
		{Refuse: true, Site: "example.com"},
		{Site: "example.org", Partition: 3},
		{Pattern: "https://example.net/", Partition: 4},
		{Range: &layout.Range{To: math.MaxUint64}, Partition: 5},
	}
	if err := d.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		url  string
		want int
		err  error
	}{
		{"https://example.org/cgi-bin/a.pdf", 0, ErrRefused},
		{"https://example.org/a/b.pdf", 7, nil},
		{"https://example.org/b.pdf?x", 3, nil},
		{"http://www.example.org/b.pdf", 3, nil},
		{"https://sub.example.com/", 0, ErrRefused},
		{"https://example.net/", 4, nil},
		{"https://example.net/a", 5, nil},
	} {
		got, err := d.Decide(parse(t, test.url))
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %d, %v; want %d, %v", test.url, got, err, test.want, test.err)
		}
	}
	d.Rules = d.Rules[:5]
	if _, err := d.Decide(parse(t, "https://example.net/a")); !errors.Is(err, ErrNoRule) {
		t.Errorf("no rule matches: %v, want %v", err, ErrNoRule)
	}
	if diff := cmp.Diff([]int{3, 4, 7}, d.Partitions()); diff != "" {
		t.Errorf("partitions (-want +got):\n%s", diff)
	}
}

func TestEvenCoversTheSpaceOnce(t *testing.T) {
	for _, partitions := range []int{1, 2, 3, 7, 1000} {
		d := Even(Storage, partitions, now)
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		var next layout.Place
		for i, r := range d.Rules {
			if r.Partition != i || r.Range.From != next || r.Range.From&math.MaxUint32 != 0 {
				t.Fatalf("%d partitions: rule %d is %+v and should begin at %d", partitions, i, *r.Range, next)
			}
			width := uint64(r.Range.To - r.Range.From) // for the last range, To is 0 and the subtraction wraps around
			if partitions > 1 && (width>>32 < 1<<32/uint64(partitions) || width>>32 > 1<<32/uint64(partitions)+1) {
				t.Errorf("%d partitions: rule %d is %d wide", partitions, i, width)
			}
			next = r.Range.To
		}
		if next != 0 {
			t.Errorf("%d partitions end at %d", partitions, next)
		}
		if got := len(d.Partitions()); got != partitions {
			t.Errorf("%d partitions, want %d", got, partitions)
		}
	}
}

func TestEvenKeepsASiteTogether(t *testing.T) {
	d := Even(Storage, 7, now)
	used := map[int]bool{}
	for i := range 100 {
		site, err := d.Decide(parse(t, fmt.Sprintf("https://example%d.org/", i)))
		if err != nil {
			t.Fatal(err)
		}
		page, err := d.Decide(parse(t, fmt.Sprintf("http://www.example%d.org:8080/%d", i, i)))
		if err != nil || page != site {
			t.Errorf("site %d lies in %d, a page of it in %d, %v", i, site, page, err)
		}
		used[site] = true
	}
	if len(used) != 7 {
		t.Errorf("100 sites use %d of 7 partitions", len(used))
	}
}

func TestGlob(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{"abc", "abc", true}, {"abc", "abcd", false}, {"abc", "ab", false},
		{"*", "", true}, {"*", "abc", true}, {"**", "abc", true},
		{"a*", "abc", true}, {"a*", "ba", false}, {"*c", "abc", true}, {"*b", "abc", false},
		{"a*c", "abc", true}, {"ab*bc", "abc", false}, {"a*b*c", "axbxbxc", true}, {"a*b*c", "acb", false},
		{"*a*a", "a", false}, {"*a*a", "aa", true}, {"a?c", "abc", false},
	} {
		if got := glob(test.pattern, test.text); got != test.want {
			t.Errorf("glob(%q, %q) = %v", test.pattern, test.text, got)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		want   string
		change func(*Document)
	}{
		{"kind", func(d *Document) { d.Kind = "fetch" }},
		{"version 0", func(d *Document) { d.Version = 0 }},
		{"no time", func(d *Document) { d.From = time.Time{} }},
		{"expires before", func(d *Document) { d.Expires = d.From }},
		{"due before", func(d *Document) { d.Due = d.From.Add(-1) }},
		{"standard", func(d *Document) { d.Standard = "none" }},
		{"no rules", func(d *Document) { d.Rules = nil }},
		{"rule 1: 0 matchers", func(d *Document) { d.Rules = []Rule{{}} }},
		{"rule 2: 2 matchers", func(d *Document) { d.Rules[1].Site = "a" }},
		{"only a pattern or a site", func(d *Document) { d.Rules[0].Refuse = true }},
		{"yet names partition", func(d *Document) { d.Rules[0] = Rule{Refuse: true, Site: "a", Partition: 1} }},
		{"partition -1", func(d *Document) { d.Rules[0].Partition = -1 }},
		{"partition 10000", func(d *Document) { d.Rules[0].Partition = 10000 }},
		{"is empty", func(d *Document) { d.Rules[0].Range = &layout.Range{From: 2, To: 2} }},
	} {
		d := Even(Crawl, 2, now)
		test.change(&d)
		if err := d.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Validate: %v, want %q in it", err, test.want)
		}
	}
	if err := Even(Crawl, 0, now).Validate(); err == nil {
		t.Error("a strategy of no partitions is valid")
	}
}
