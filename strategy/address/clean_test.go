package address

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for _, test := range []struct{ path, want string }{
		{"/", "/"},
		{"/?", "/?"},
		{"/a?b=c&d", "/a?b=c&d"},
		{"/a?utm_source=x", "/a"},
		{"/a?utm_source", "/a"},
		{"/a?UTM_Source=x&b=c", "/a?b=c"},
		{"/a?b=c&fbclid=x", "/a?b=c"},
		{"/a?b=c&gclid=x&d=e", "/a?b=c&d=e"},
		{"/a?&utm_source=x", "/a"},
		{"/a?b&&gclid=x&", "/a?b&&"},
		{"/a?gclid=x&amp;b=c", "/a?amp;b=c"},
		{"/a?mygclid=x&gclidx=y", "/a?mygclid=x&gclidx=y"},
		{"/a?b=gclid=x", "/a?b=gclid=x"},
		{"/a?" + strings.Repeat("x", 100) + "=1", "/a?" + strings.Repeat("x", 100) + "=1"},
		{"/a?ASPSESSIONIDQQBCADTQ=x&CFID=1&cftoken=2&PHPSESSID=3", "/a"},
		{"/a;jsessionid=0A1B.node1?b", "/a?b"},
		{"/a;JSESSIONID=0A1B/b;v=1;jsessionid=2", "/a/b;v=1"},
		{"/a;jsessionid=1?", "/a?"},
		{"/a;b;/;c", "/a;b;/;c"},
		{"/..;jsessionid=1/b", "/b"},
		{"/jsessionid=1", "/jsessionid=1"},
		{"/?sid=d131dd02c5e6eec4&a=b", "/?a=b"},
		{"/?sid=123e4567-e89b-12d3-a456-426614174000", "/"},
		{"/?sid=kj3hGf82LmQz91Xa", "/"},
		{"/?sid=17", "/?sid=17"},
		{"/?sid=introduction-to-databases", "/?sid=introduction-to-databases"},
		{"/?sid=postgresql-16-release-notes", "/?sid=postgresql-16-release-notes"},
		{"/?sid=deadbeef-dead", "/?sid=deadbeef-dead"},
		{"/?sid=", "/?sid="},
		// When the parameter with the stray '%' is dropped, the remaining escapes get their
		// normal form.
		{"/?gclid=%&a=%7e&utm%5fsource=x", "/?a=~"},
	} {
		a := parse(t, "https://example.org"+test.path)
		want := parse(t, "https://example.org"+test.want)
		if got := DefaultCleaner().Clean(a); got != want {
			t.Errorf("Clean(%s) = %s, want %s", a.URL, got.URL, want.URL)
		}
		if got := (Cleaner{}).Clean(a); got != a {
			t.Errorf("the zero Cleaner makes %s of %s", got.URL, a.URL)
		}
	}
}

func TestCleanByPatterns(t *testing.T) {
	for _, test := range []struct{ patterns, query, want string }{
		{"", "utm_source=x", "utm_source=x"},
		{"a", "a=1&b=2", "b=2"},
		{"*", "a=1&b=2", ""},
		{"*=session", "a=1&b=d131dd02c5e6eec4", "a=1"},
		{"id*=session", "id=1&id2=d131dd02c5e6eec4", "id=1"},
		{"a=session a", "a=1", ""},
		{"a a=session", "a=1", ""},
		{"a=session a=session", "a=1", "a=1"},
		{"Sort", "sORT=up", ""},
	} {
		c, err := NewCleaner(strings.Fields(test.patterns))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSuffix("https://example.org/?"+test.want, "?")
		if got := c.Clean(parse(t, "https://example.org/?"+test.query)).URL; got != want {
			t.Errorf("%q makes %s of %s, want %s", test.patterns, got, test.query, want)
		}
	}
}

func TestNoParameterPattern(t *testing.T) {
	for _, pattern := range []string{"", "a*b", "**", "a=b", "=session", "a&b", "a b", "?a", strings.Repeat("x", maxName+1)} {
		if _, err := NewCleaner([]string{"ok", pattern}); err == nil || !strings.Contains(err.Error(), "want a name such as gclid") {
			t.Errorf("NewCleaner(%q): %v", pattern, err)
		}
	}
}

func TestCleanIsCheap(t *testing.T) {
	c := DefaultCleaner()
	for _, url := range []string{"https://example.org/a/b.html", "https://example.org/a?page=2&sort=up&sid=4"} {
		a := parse(t, url)
		if n := testing.AllocsPerRun(100, func() { c.Clean(a) }); n > 0 {
			t.Errorf("%s: %v allocations", url, n)
		}
	}
}

// FuzzClean proves that a cleaned address is canonical, has the same host and is not longer,
// and that cleaning it again changes nothing.
func FuzzClean(f *testing.F) {
	for _, path := range []string{"/a?utm_source=1&b=2", "/a;jsessionid=1/..;cfid=2/b?", "/?&&gclid&%", "/.;sid=d131dd02c5e6eec4", "/?gclid=%&utm%5fx=1"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		a, err := Parse("http://example.org/" + path)
		if err != nil {
			return
		}
		clean := DefaultCleaner().Clean(a)
		if again, err := Parse(clean.URL); err != nil || again != clean {
			t.Fatalf("Clean(%s) = %s is not canonical: %v", a.URL, clean.URL, err)
		}
		if again := DefaultCleaner().Clean(clean); again != clean {
			t.Fatalf("Clean(%s) = %s, again %s", a.URL, clean.URL, again.URL)
		}
		if clean.Origin != a.Origin || len(clean.URL) > len(a.URL) || len(clean.URL) == len(a.URL) && clean != a {
			t.Fatalf("Clean(%s) = %s", a.URL, clean.URL)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	for _, test := range []struct{ name, url string }{
		{"nothing", "https://docs.python.org/3/library/urllib.parse.html"},
		{"kept", "https://example.org/list?page=2&sort=up&category=books"},
		{"dropped", "https://example.org/list?page=2&utm_source=letter&utm_medium=mail"},
	} {
		b.Run(test.name, func(b *testing.B) {
			a, err := Parse(test.url)
			if err != nil {
				b.Fatal(err)
			}
			c := DefaultCleaner()
			b.ReportAllocs()
			for b.Loop() {
				c.Clean(a)
			}
		})
	}
}

func parse(t *testing.T, raw string) Address {
	t.Helper()
	a, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
