package collection

import (
	"regexp"
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		pattern      string
		match, other []string
	}{
		{"*", []string{"https://example.org/"}, nil},
		{"*/docs/*", []string{"https://a.org/docs/", "https://a.org/x/docs/y?z"}, []string{"https://a.org/docs", "https://a.org/Docs/"}},
		{"https://a.org/", []string{"https://a.org/"}, []string{"https://a.org/b", "http://a.org/"}},
		{"http*://a.org/*.html", []string{"http://a.org/b.html", "https://a.org/.html"}, []string{"https://a.org/b.html?c", "https://b.org/b.html"}},
		{"*/a*a/*", []string{"https://b.org/aa/", "https://b.org/aba/"}, []string{"https://b.org/a/"}},
		{"*aba*ba", []string{"https://b.org/ababa"}, []string{"https://b.org/aba", "https://b.org/abba"}},
		{"*/?*", []string{"https://a.org/?x"}, []string{"https://a.org/x"}},
		{"*/münchen/*", []string{"https://a.org/m%C3%BCnchen/"}, []string{"https://a.org/munchen/"}},
		{"*/%7ejoe/*", []string{"https://a.org/~joe/"}, nil},
		{"re:/docs/\\d+$", []string{"https://a.org/docs/16"}, []string{"https://a.org/docs/16/", "https://a.org/docs/x"}},
	} {
		p, err := parsePattern(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range test.match {
			if url := parse(t, raw).URL; !p.match(url) {
				t.Errorf("%s does not match %s", test.pattern, url)
			}
		}
		for _, raw := range test.other {
			if url := parse(t, raw).URL; p.match(url) {
				t.Errorf("%s matches %s", test.pattern, url)
			}
		}
	}
}

// FuzzPattern proves that a pattern with '*' matches the same addresses as the regular
// expression with .* in place of each '*'.
func FuzzPattern(f *testing.F) {
	f.Add("*a*b*", "http://xab")
	f.Add("http://*aba*ba", "http://ababa")
	f.Fuzz(func(t *testing.T, text, url string) {
		p, err := parsePattern(text)
		if err != nil || p.expression != nil {
			return
		}
		parts := make([]string, len(p.parts))
		for i, part := range p.parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		same, err := regexp.Compile(`(?s)\A` + strings.Join(parts, ".*") + `\z`)
		if err != nil || strings.ToValidUTF8(url, "") != url {
			return
		}
		if got, want := p.match(url), same.MatchString(url); got != want {
			t.Fatalf("%q matches %q: %v, want %v", text, url, got, want)
		}
	})
}
