package collection

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func docs(seeds ...Seed) Collection {
	return Collection{Name: "docs", Seeds: seeds, Delay: Duration(time.Second), HostConnections: 1, Agent: "ExampleBot/1.0"}
}

func TestParseScope(t *testing.T) {
	for _, scope := range []Scope{Prefix, Host, Site, Any} {
		if got, err := ParseScope(string(scope)); got != scope || err != nil {
			t.Errorf("ParseScope(%s) = %s, %v", scope, got, err)
		}
	}
	_, err := ParseScope("domain")
	if want := `scope "domain": choose prefix, host, site or any`; err == nil || err.Error() != want {
		t.Errorf("ParseScope(domain): %v, want %s", err, want)
	}
}

func TestParseSeed(t *testing.T) {
	for raw, want := range map[string]string{
		"https://example.org/a#b":   "https://example.org/a",
		"HTTP://Example.org":        "http://example.org/",
		" example.org ":             "https://example.org/",
		"example.org/docs":          "https://example.org/docs",
		"example.org:8443/docs?x":   "https://example.org:8443/docs?x",
		"example.org:443":           "https://example.org/",
		"//example.org/docs":        "https://example.org/docs",
		"bücher.example":            "https://xn--bcher-kva.example/",
		"localhost":                 "http://localhost/",
		"localhost:8000":            "http://localhost:8000/",
		"docs.localhost:8000/a":     "http://docs.localhost:8000/a",
		"127.0.0.1:8000/index.html": "http://127.0.0.1:8000/index.html",
		"[::1]:8000":                "http://[::1]:8000/",
		"intranet:8000/a":           "https://intranet:8000/a",
	} {
		got, err := ParseSeed(raw)
		if err != nil || got.URL != want {
			t.Errorf("ParseSeed(%q) = %s, %v; want %s", raw, got.URL, err, want)
		}
	}
}

func TestSeedThatIsNoAddress(t *testing.T) {
	for _, raw := range []string{"", "hello", "hello world", "/etc/passwd", "./a.html", "?q", "#", "..", "ftp://example.org/", "mailto:joe@example.org",
		"joe@example.org", "joe.x@example.org", "example.org docs", "http://", "http://a b/", "example.org:99999", "http://[::1", `C:\docs`, "javascript:alert(1)"} {
		got, err := ParseSeed(raw)
		if err == nil {
			t.Errorf("ParseSeed(%q) = %s, want an error", raw, got.URL)
		} else if text := err.Error(); !strings.HasPrefix(text, "seed ") || !strings.Contains(text, " is no web address: ") || !strings.HasSuffix(text, "; write it like https://example.org/") {
			t.Errorf("ParseSeed(%q): %v", raw, err)
		}
	}
}

func TestWith(t *testing.T) {
	before := docs(Seed{"https://example.org/", Host, 2}, Seed{"example.net", Host, Unlimited})
	after := before.With([]Seed{{"HTTPS://example.org:443", Site, Unlimited}, {"https://example.net/", Prefix, 0}, {"example.com", Any, 1}, {"example.com/#x", Any, 3}})
	want := docs(Seed{"https://example.org/", Site, Unlimited}, Seed{"https://example.net/", Prefix, 0}, Seed{"https://example.com/", Any, 3})
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("With (-want +got):\n%s", diff)
	}
	if before.Seeds[0].Scope != Host {
		t.Error("With changed the collection that it was called on")
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		want   string
		change func(*Collection)
	}{
		{"name", func(c *Collection) { c.Name = "a/b" }},
		{"name", func(c *Collection) { c.Name = "" }},
		{"delay", func(c *Collection) { c.Delay = -1 }},
		{"host_connections", func(c *Collection) { c.HostConnections = 0 }},
		{"pages is", func(c *Collection) { c.Pages = -1 }},
		{"agent", func(c *Collection) { c.Agent = "a\r\nb" }},
		{"no agent", func(c *Collection) { c.Agent = "" }},
		{"is no web address", func(c *Collection) { c.Seeds = []Seed{{"hello world", Host, 0}} }},
		{"choose prefix", func(c *Collection) { c.Seeds[0].Scope = "" }},
		{"depth -2", func(c *Collection) { c.Seeds[0].Depth = -2 }},
		{"include: pattern", func(c *Collection) { c.Include = []string{"docs"} }},
		{"exclude: pattern", func(c *Collection) { c.Exclude = []string{"re:["} }},
		{"exclude: pattern", func(c *Collection) { c.Exclude = []string{strings.Repeat("*", maxPatternBytes+1)} }},
		{"drop_parameters: parameter", func(c *Collection) { c.DropParameters = []string{"a=b"} }},
		{"sitemap: address", func(c *Collection) { c.Sitemaps = []string{"ftp://a.org/"} }},
		{"allow", func(c *Collection) { c.Allow = []string{"a b"} }},
		{"allow", func(c *Collection) { c.Allow = []string{""} }},
		{"connections is", func(c *Collection) { c.Connections = -1 }},
		{"host_pages", func(c *Collection) { c.HostPages = -1 }},
		{"pattern_pages", func(c *Collection) { c.PatternPages = -2 }},
		{"schedule", func(c *Collection) { c.Schedule = "now" }},
		{`language "EN": want an ISO 639 code such as en`, func(c *Collection) { c.Language = "EN" }},
		{"one of those that can be identified: af am", func(c *Collection) { c.Language = "xx" }},
		{"topic: want words", func(c *Collection) { c.Topic = &Topic{} }},
		{"topic: 1001 words", func(c *Collection) { c.Topic = &Topic{Words: make([]string, 1001)} }},
		{"topic: 17 sample pages", func(c *Collection) { c.Topic = &Topic{Pages: make([]string, 17)} }},
		{"topic: 0 sample pages and 33 texts", func(c *Collection) { c.Topic = &Topic{Texts: make([]string, 33)} }},
		{"topic: threshold", func(c *Collection) { c.Topic = &Topic{Words: []string{"a"}, Threshold: 1.1} }},
		{"topic: sample 1 has", func(c *Collection) { c.Topic = &Topic{Texts: []string{strings.Repeat("x", maxSampleBytes+1)}} }},
		{"sample: address", func(c *Collection) { c.Topic = &Topic{Pages: []string{"a.txt"}} }},
	} {
		c := docs(Seed{"https://example.org/", Host, 0})
		test.change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Validate: %v, want %q in it", err, test.want)
		}
	}
	if err := docs().Validate(); err != nil {
		t.Errorf("a collection without seeds: %v", err)
	}
}
