package address

import (
	"strings"
	"testing"
)

func TestSuspicious(t *testing.T) {
	for _, test := range []struct{ path, want string }{
		{"/", ""},
		{"/a/b/c/d/e.html?f=g", ""},
		{"/" + strings.Repeat("x", MaxLength-len("http://a.org/")), ""},
		{"/" + strings.Repeat("x", MaxLength-len("http://a.org/")+1), TooLong},
		{"/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t", ""},
		{"/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/", TooManySegments},
		{"/?a&b&c&d&e&f&g&h&i&j&k&l", ""},
		{"/?a&b&c&d&e&f&g&h&i&j&k&l&m", TooManyParameters},
		{"/?/a/a/a/a", ""},
		{"/a/a/b", ""},
		{"/2011/11/11/", ""},
		{"/a/b/a/b/", ""},
		{"/a/b/a/c/a/d/", ""},
		{"/a/a/a", Repeats},
		{"/x/a/a/a/y", Repeats},
		{"/a/b/a/b/a/b", Repeats},
		{"/x/a/b/a/b/a/b/y", Repeats},
		{"/a/b/c/a/b/c/a/b/c", Repeats},
		{"/a////b", Repeats},
		{"/a/b/a/b/a", ""},
		{"/aa/a/a", ""},
	} {
		if got := Suspicious(parse(t, "http://a.org"+test.path)); got != test.want {
			t.Errorf("Suspicious(%.60s) = %q, want %q", test.path, got, test.want)
		}
	}
}

func FuzzSuspicious(f *testing.F) {
	f.Add("a/a/a?b")
	f.Add(strings.Repeat("/", 30))
	f.Fuzz(func(t *testing.T, path string) {
		if a, err := Parse("http://a.org/" + path); err == nil {
			Suspicious(a)
		}
	})
}

func BenchmarkSuspicious(b *testing.B) {
	a, err := Parse("https://example.org/a/b/c/d/e/f/g/some-title.html?page=2&sort=up")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		Suspicious(a)
	}
}
