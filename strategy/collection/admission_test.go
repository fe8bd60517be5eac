package collection

import (
	"fmt"
	"testing"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

func TestScopes(t *testing.T) {
	for _, test := range []struct {
		scope         Scope
		seed          string
		admit, refuse []string
	}{
		{Prefix, "https://www.example.org/doc/index.html?x=/y/",
			[]string{"https://www.example.org/doc/", "http://example.org/doc/a/b?c", "https://example.org/doc/x.html"},
			[]string{"https://example.org/", "https://example.org/doc", "https://example.org/docs/", "https://example.org/a?/doc/", "https://sub.example.org/doc/", "https://example.org:8080/doc/"}},
		{Prefix, "https://example.org/doc/",
			[]string{"https://example.org/doc/a"},
			[]string{"https://example.org/doc"}},
		{Prefix, "https://example.org",
			[]string{"https://example.org/", "https://example.org/a/b"},
			[]string{"https://example.net/"}},
		{Host, "https://example.org/doc/",
			[]string{"https://example.org/", "http://example.org/a", "https://www.example.org/b"},
			[]string{"https://sub.example.org/", "https://example.org:8080/", "https://example.com/"}},
		{Host, "http://127.0.0.1:8000/",
			[]string{"http://127.0.0.1:8000/a", "https://127.0.0.1:8000/a"},
			[]string{"http://127.0.0.1/", "http://127.0.0.1:8001/"}},
		{Site, "https://www.example.co.uk/doc/",
			[]string{"https://example.co.uk/", "http://a.b.example.co.uk:8080/"},
			[]string{"https://other.co.uk/", "https://co.uk/"}},
		{Site, "http://127.0.0.1:8000/",
			[]string{"http://127.0.0.1:8001/"},
			[]string{"http://127.0.0.2:8000/"}},
		{Any, "https://example.org/",
			[]string{"https://example.org/", "http://127.0.0.1/", "https://example.com/"},
			nil},
	} {
		admission := rules(t, Seed{test.seed, test.scope, Unlimited})
		for _, target := range test.admit {
			if got := admission.Decide(parse(t, target), 65535, 0); got != "" {
				t.Errorf("%s of %s: %s is refused: %s", test.scope, test.seed, target, got)
			}
		}
		for _, target := range test.refuse {
			if got := admission.Decide(parse(t, target), 1, 0); got != OutOfScope {
				t.Errorf("%s of %s: %s: %q, want %q", test.scope, test.seed, target, got, OutOfScope)
			}
		}
	}
}

func TestDepthAndHops(t *testing.T) {
	admission := rules(t,
		Seed{"https://example.org/", Host, 1},
		Seed{"https://example.org/deep/", Prefix, 3},
		Seed{"https://example.org/deep/all/", Prefix, Unlimited},
		Seed{"https://example.net/", Site, 0},
		Seed{"https://www.example.net/a", Host, 2},
		Seed{"https://example.com/", Host, 1000000})
	for _, test := range []struct {
		target string
		depth  uint16
		hops   uint8
		want   string
	}{
		{"https://example.org/a", 1, 0, ""},
		{"https://example.org/a", 2, 0, TooDeep},
		{"https://example.org/deep/a", 3, 0, ""},
		{"https://example.org/deep/a", 4, 0, TooDeep},
		{"https://example.org/deep/all/a", 65535, 0, ""},
		{"https://sub.example.net/", 0, 0, ""},
		{"https://sub.example.net/", 1, 0, TooDeep},
		{"https://example.net/", 2, 0, ""},
		{"https://example.com/a", 65535, 0, ""},
		{"https://example.org/a", 1, MaxHops, ""},
		{"https://example.org/a", 1, MaxHops + 1, TooMany},
		{"https://other.example/", 0, 0, OutOfScope},
	} {
		if got := admission.Decide(parse(t, test.target), test.depth, test.hops); got != test.want {
			t.Errorf("%s at depth %d after %d redirects: %q, want %q", test.target, test.depth, test.hops, got, test.want)
		}
	}
}

func TestSeedsAreAdmitted(t *testing.T) {
	for _, scope := range []Scope{Prefix, Host, Site, Any} {
		for _, seed := range []string{"https://example.org/a/b?c", "localhost:8000", "http://[::1]/a"} {
			at, err := ParseSeed(seed)
			if err != nil {
				t.Fatal(err)
			}
			admission := rules(t, Seed{seed, scope, 0})
			if got := admission.Decide(at, 0, 0); got != "" {
				t.Errorf("%s of %s: the seed is refused: %s", scope, seed, got)
			}
			if got := admission.Decide(at, 1, 0); got != TooDeep {
				t.Errorf("%s of %s at depth 1: %q, want %q", scope, seed, got, TooDeep)
			}
		}
	}
	if got := (Admission{}).Decide(parse(t, "https://example.org/"), 0, 0); got != OutOfScope {
		t.Errorf("without seeds: %q, want %q", got, OutOfScope)
	}
}

func TestPatternsDecide(t *testing.T) {
	c := docs(Seed{"https://example.org/docs/", Host, 5}, Seed{"https://example.org/docs/old/all", Host, 5})
	c.Include = []string{"*/docs/*", "re:/help$"}
	c.Exclude = []string{"*/old/*"}
	admission, err := c.Rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		target string
		depth  uint16
		want   string
	}{
		{"https://example.org/docs/a", 1, ""},
		{"https://example.org/help", 1, ""},
		{"https://example.org/blog/", 1, NotIncluded},
		{"https://example.org/docs/old/a", 1, Excluded},
		{"https://example.org/old/", 1, Excluded},
		{"https://example.org/docs/old/all", 0, ""},
		{"https://example.org/docs/old/all", 5, ""},
		{"https://example.org/docs/old/all", 6, TooDeep},
		{"https://example.net/docs/", 1, OutOfScope},
		{"https://example.org/docs/old/a", 6, TooDeep},
		{"https://example.org/docs/a/a/a/", 1, address.Repeats},
		{"https://example.org/blog/a/a/a/", 1, NotIncluded},
	} {
		if got := admission.Decide(parse(t, test.target), test.depth, 0); got != test.want {
			t.Errorf("%s at depth %d: %q, want %q", test.target, test.depth, got, test.want)
		}
	}
}

func TestSeedThatLooksLikeATrap(t *testing.T) {
	admission := rules(t, Seed{"https://example.org/a/a/a/", Host, Unlimited})
	for _, depth := range []uint16{0, 3} {
		if got := admission.Decide(parse(t, "https://example.org/a/a/a/"), depth, 0); got != "" {
			t.Errorf("at depth %d: %s", depth, got)
		}
	}
	if got := admission.Decide(parse(t, "https://example.org/a/a/a/a/"), 1, 0); got != address.Repeats {
		t.Errorf("what it links to: %q, want %q", got, address.Repeats)
	}
}

func TestCollectionCleans(t *testing.T) {
	for _, test := range []struct {
		drop []string
		want string
	}{
		{nil, "https://example.org/?a=1"},
		{[]string{}, "https://example.org/?a=1&utm_source=x"},
		{[]string{"a"}, "https://example.org/?utm_source=x"},
	} {
		c := docs()
		c.DropParameters = test.drop
		admission, err := c.Rules()
		if err != nil {
			t.Fatal(err)
		}
		if got := admission.Clean(parse(t, "https://example.org/?a=1&utm_source=x")).URL; got != test.want {
			t.Errorf("without %q: %s, want %s", test.drop, got, test.want)
		}
	}
	if got := (Admission{}).Clean(parse(t, "https://example.org/?gclid=1")).URL; got != "https://example.org/?gclid=1" {
		t.Errorf("without a collection: %s", got)
	}
}

func BenchmarkDecide(b *testing.B) {
	var seeds []Seed
	for i := range 10000 {
		seeds = append(seeds, Seed{fmt.Sprintf("https://example.org/%d/index.html", i), Prefix, 5}, Seed{fmt.Sprintf("https://example%d.org/", i), Host, 5})
	}
	c := docs(seeds...)
	c.Include, c.Exclude = []string{"*/some/*"}, []string{"*/other/*", "*.zip"}
	admission, err := c.Rules()
	if err != nil {
		b.Fatal(err)
	}
	target, err := address.Parse("https://example.org/9999/some/directory/page.html")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if admission.Decide(target, 3, 0) != "" {
			b.Fatal("refused")
		}
	}
}

func rules(t *testing.T, seeds ...Seed) Admission {
	t.Helper()
	admission, err := docs(seeds...).Rules()
	if err != nil {
		t.Fatal(err)
	}
	return admission
}

func parse(t *testing.T, raw string) address.Address {
	t.Helper()
	a, err := address.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
