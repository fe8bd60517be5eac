package collection

import "testing"

func TestExplainer(t *testing.T) {
	c := Collection{
		Seeds: []Seed{
			{URL: "https://example.org/docs/", Scope: Prefix, Depth: 1},
			{URL: "https://example.org/", Scope: Host, Depth: Unlimited},
		},
		Exclude: []string{"*/new/*", "re:/old/", "*/old/*"},
	}
	e, err := c.Explain()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		url             string
		depth           uint16
		seed, exclusion string
	}{
		{"https://example.org/docs/a", 1, "https://example.org/docs/", ""},
		{"https://example.org/docs/a", 2, "https://example.org/", ""},
		{"https://example.org/old/a", 1, "https://example.org/", "re:/old/"},
		{"https://example.com/new/", 1, "", "*/new/*"},
	} {
		at := parse(t, test.url)
		seed, found := e.Seed(at, test.depth, 0)
		if seed.URL != test.seed || found != (test.seed != "") {
			t.Errorf("%s at depth %d: seed %q, want %q", test.url, test.depth, seed.URL, test.seed)
		}
		if got := e.Exclusion(at); got != test.exclusion {
			t.Errorf("%s: excluded by %q, want %q", test.url, got, test.exclusion)
		}
	}
	if _, err := (Collection{Exclude: []string{"re:("}}).Explain(); err == nil {
		t.Error("a wrong pattern is explained")
	}
}
