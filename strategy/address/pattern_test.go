package address

import (
	"fmt"
	"testing"
)

func TestPattern(t *testing.T) {
	for _, test := range []struct{ path, want string }{
		{"/", ""},
		{"/wiki/Calendar", ""},
		{"/wiki/Caf%C3%A9", ""},
		{"/?", ""},
		{"/calendar/2026/11", "/calendar/#/#"},
		{"/calendar/2026-11-22.html", "/calendar/#-#-#.html"},
		{"/calendar?year=2026&month=11", "/calendar?month&year"},
		{"/calendar?month=12&year=2027", "/calendar?month&year"},
		{"/s/8f3a/page", "/s/#/page"},
		{"/s/0123456789ABCDEF0123456789abcdef/page", "/s/#/page"},
		{"/s/123e4567-e89b-12d3-a456-426614174000", "/s/#-#-#-#-#"},
		{"/s/kj3hGf82LmQz91Xa/page", "/s/#/page"},
		{"/python3/html5", "/python#/html#"},
		{"/v1.2.3/a10b20", "/v#.#.#/#"},
		{"/cafe/face", ""},
		{"/caf%C3%A91", "/caf%C3%A9#"},
		{"/50%", "/#%"},
		{"/a?f[0]=x&f[1]=y&f[12]=z", "/a?f[#]"},
		{"/forum?4711", "/forum?#"},
		{"/forum?b&a&b", "/forum?a&b"},
	} {
		want := test.want
		if want != "" {
			want = "example.org:8080" + want
		}
		if got := Pattern(parse(t, "http://example.org:8080"+test.path)); got != want {
			t.Errorf("Pattern(%s) = %q, want %q", test.path, got, want)
		}
	}
}

// TestPatternsOfTraps: the many addresses that a trap, such as an endless calendar, generates have
// only few patterns.
func TestPatternsOfTraps(t *testing.T) {
	for name, test := range map[string]struct {
		url  func(i int) string
		most int
	}{
		"calendar": {func(i int) string {
			return fmt.Sprintf("http://a.org/%d/%02d/%02d/?view=%d", 1900+i/365, i%12, i%31, i)
		}, 1},
		"ids":   {func(i int) string { return fmt.Sprintf("http://a.org/s/%08x/page", i*2654435761%(1<<32)) }, 3},
		"short": {func(i int) string { return fmt.Sprintf("http://a.org/s/%04x", i) }, 1500},
	} {
		patterns := map[string]bool{}
		for i := range 10000 {
			patterns[Pattern(parse(t, test.url(i)))] = true
		}
		if len(patterns) > test.most {
			t.Errorf("%s: 10,000 pages have %d patterns, want at most %d", name, len(patterns), test.most)
		}
	}
}

// FuzzPattern proves that addresses that differ only in a number have the same pattern, and
// that Pattern neither fails nor loops for any address.
func FuzzPattern(f *testing.F) {
	for _, path := range []string{"a/2026/11?x=1&y", "s/8f3a%4", "?", "a?1&2=3", "%20%"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		one, errOne := Parse("http://example.org/1/" + path)
		two, errTwo := Parse("https://example.org/22/" + path)
		if errOne != nil || errTwo != nil {
			return
		}
		if a, b := Pattern(one), Pattern(two); a != b && len(one.Path)+1 == len(two.Path) {
			t.Fatalf("Pattern(%s) = %q, Pattern(%s) = %q", one.URL, a, two.URL, b)
		}
	})
}

func BenchmarkPattern(b *testing.B) {
	a, err := Parse("https://example.org/archive/2026/11/some-title.html?page=2&sort=up")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		Pattern(a)
	}
}
