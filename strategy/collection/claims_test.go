package collection

import "testing"

// TestClaims: a collection claims a page that another collection has found, if the page is in the
// scope of a seed with unlimited depth. How many links lead from the seed to the page does not matter.
func TestClaims(t *testing.T) {
	const page = "https://example.org/doc/page"
	for _, test := range []struct {
		name   string
		change func(*Collection)
		page   string
		hops   uint8
		want   bool
	}{
		{"in a directory", func(c *Collection) { c.Seeds[0].Scope = Prefix }, page, 0, true},
		{"beside the directory", func(c *Collection) { c.Seeds[0].Scope = Prefix }, "https://example.org/", 0, false},
		{"on the host", nil, "https://example.org/", 3, true},
		{"on the site", func(c *Collection) { c.Seeds[0].Scope = Site }, "https://www2.example.org/", 0, true},
		{"of another site", func(c *Collection) { c.Seeds[0].Scope = Site }, "https://example.net/", 0, false},
		{"anywhere", func(c *Collection) { c.Seeds[0].Scope = Any }, page, 0, false},
		{"where the other seed goes", func(c *Collection) { c.Seeds = append(c.Seeds, Seed{"https://example.net/", Any, 3}) }, page, 0, true},
		{"within a depth", func(c *Collection) { c.Seeds[0].Depth = 3 }, page, 0, false},
		{"the deepest seed counts", func(c *Collection) { c.Seeds = append(c.Seeds, Seed{"https://example.org/x", Site, 3}) }, page, 0, true},
		{"a seed", func(c *Collection) { c.Seeds[0] = Seed{page, Any, 1} }, page, 0, false},
		{"a seed, excluded", func(c *Collection) { c.Seeds[0].URL, c.Exclude = page, []string{"*/doc/*"} }, page, 0, true},
		{"excluded", func(c *Collection) { c.Exclude = []string{"*/doc/*"} }, page, 0, false},
		{"not included", func(c *Collection) { c.Include = []string{"*/other/*"} }, page, 0, false},
		{"a trap", nil, "https://example.org/a/b/a/b/a/b/a/b/a/b/", 0, false},
		{"crawled under another address", nil, page + "?utm_source=a", 0, false},
		{"crawled under this address", func(c *Collection) { c.DropParameters = []string{} }, page + "?utm_source=a", 0, true},
		{"after too many redirects", nil, page, MaxHops + 1, false},
	} {
		c := docs(Seed{"https://example.org/doc/", Host, Unlimited})
		if test.change != nil {
			test.change(&c)
		}
		admission, err := c.Rules()
		if err != nil {
			t.Fatal(err)
		}
		if got := admission.Claims(parse(t, test.page), test.hops); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		if got := admission.Decide(parse(t, test.page), 1, test.hops); test.want && got != "" {
			t.Errorf("%s: claims what it refuses: %s", test.name, got)
		}
	}
}

func TestHasSeedOn(t *testing.T) {
	admission := rules(t, Seed{"https://www.example.co.uk/doc/", Prefix, 1}, Seed{"http://example.org/", Any, 1})
	for site, want := range map[string]bool{"example.co.uk": true, "example.org": true, "www.example.co.uk": false, "example.net": false} {
		if got := admission.HasSeedOn(site); got != want {
			t.Errorf("%s: %v, want %v", site, got, want)
		}
	}
}
