package address

import (
	"errors"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/google/go-cmp/cmp"
)

func TestParseURL(t *testing.T) {
	for _, test := range []struct{ name, raw, want string }{
		{"already canonical", "https://example.org/a/b.html?q=1", "https://example.org/a/b.html?q=1"},
		{"empty path", "http://example.org", "http://example.org/"},
		{"empty path before a query", "http://example.org?q", "http://example.org/?q"},
		{"empty query stays", "http://example.org/?", "http://example.org/?"},
		{"trailing slash stays", "http://example.org/a/", "http://example.org/a/"},
		{"order of parameters stays", "http://example.org/?b=1&a=2", "http://example.org/?b=1&a=2"},
		{"fragment", "http://example.org/a#b", "http://example.org/a"},
		{"space before the fragment", "http://example.org/a #b", "http://example.org/a%20"},
		{"space around", " \n http://example.org/a\t ", "http://example.org/a"},
		{"tab and line end inside", "http://exam\tple.org/a\r\nb", "http://example.org/ab"},
		{"user and password", "http://user:pa%20ss@example.org/", "http://example.org/"},
		{"upper case", "HTTP://EXAMPLE.org/A", "http://example.org/A"},
		{"default port", "http://example.org:80/", "http://example.org/"},
		{"default port of https", "https://example.org:00443/", "https://example.org/"},
		{"port of the other scheme", "http://example.org:443/", "http://example.org:443/"},
		{"empty port", "http://example.org:/", "http://example.org/"},
		{"dot segments", "http://example.org/a/./b/../c/%2e%2E/d", "http://example.org/a/d"},
		{"dots above the root", "http://example.org/../../a", "http://example.org/a"},
		{"backslashes", `http:\\example.org\a\b?c\d`, `http://example.org/a/b?c\d`},
		{"missing slashes", "http:example.org/a", "http://example.org/a"},
		{"escapes in normal form", "http://example.org/%7ejoe/%c3%a9?%41=%2f", "http://example.org/~joe/%C3%A9?A=%2F"},
		{"raw UTF-8", "http://example.org/é?ü", "http://example.org/%C3%A9?%C3%BC"},
		{"no UTF-8", "http://example.org/\xff", "http://example.org/%EF%BF%BD"},
		{"stray percent sign", "http://example.org/100%/%41", "http://example.org/100%/%41"},
		{"no new escape from a stray sign", "http://example.org/%2%35", "http://example.org/%2%35"},
		{"no second decoding", "http://example.org/%2541", "http://example.org/%2541"},
		{"characters of a path", "http://example.org/\"<>`{}^'|", "http://example.org/%22%3C%3E%60%7B%7D%5E'|"},
		{"characters of a query", "http://example.org/?\"<>`{}^'|", "http://example.org/?%22%3C%3E`{}^%27|"},
		{"international name", "http://Bücher.example/", "http://xn--bcher-kva.example/"},
		{"full-width name", "http://Ｇｏ.com/", "http://go.com/"},
		{"escaped name", "http://%65xample.org/", "http://example.org/"},
		{"name with underscore", "http://a_b.example.org/", "http://a_b.example.org/"},
		{"final dot of a name stays", "http://example.org./", "http://example.org./"},
		{"short IPv4", "http://127.1/", "http://127.0.0.1/"},
		{"octal and hexadecimal IPv4", "http://0300.168.0xF0/", "http://192.168.0.240/"},
		{"IPv6", "http://[2001:DB8:0:0::0:1]:8080/", "http://[2001:db8::1]:8080/"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(test.raw)
			if err != nil {
				t.Fatal(err)
			}
			if got.URL != test.want {
				t.Errorf("Parse(%q) = %q, want %q", test.raw, got.URL, test.want)
			}
		})
	}
}

func TestParts(t *testing.T) {
	for _, want := range []Address{
		{URL: "https://www.example.co.uk/a?b=c", Origin: "https://www.example.co.uk", Host: "www.example.co.uk", Site: "example.co.uk", Path: "/a?b=c"},
		{URL: "http://example.org:8080/", Origin: "http://example.org:8080", Host: "example.org:8080", Site: "example.org", Path: "/"},
		{URL: "http://example.org:443/", Origin: "http://example.org:443", Host: "example.org", Site: "example.org", Path: "/"},
		{URL: "https://example.org./", Origin: "https://example.org.", Host: "example.org", Site: "example.org", Path: "/"},
		{URL: "https://joe.github.io/", Origin: "https://joe.github.io", Host: "joe.github.io", Site: "joe.github.io", Path: "/"},
		{URL: "https://github.io/", Origin: "https://github.io", Host: "github.io", Site: "github.io", Path: "/"},
		{URL: "http://localhost:8000/x", Origin: "http://localhost:8000", Host: "localhost:8000", Site: "localhost", Path: "/x"},
		{URL: "http://127.0.0.1:8000/", Origin: "http://127.0.0.1:8000", Host: "127.0.0.1:8000", Site: "127.0.0.1", Path: "/"},
		{URL: "http://[::1]/", Origin: "http://[::1]", Host: "[::1]", Site: "::1", Path: "/"},
		{URL: "http://[::1]:8000/", Origin: "http://[::1]:8000", Host: "[::1]:8000", Site: "::1", Path: "/"},
	} {
		want.ID = layout.IdentityOf(want.URL)
		want.Place = layout.PlaceOf(want.Site, want.ID)
		got, err := Parse(want.URL)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Parse(%s) (-want +got):\n%s", want.URL, diff)
		}
	}
}

func TestOneIdentity(t *testing.T) {
	const canonical = "https://example.org/~a/?q"
	for _, raw := range []string{"HTTPS://u:p@Example.ORG:443/%7ea/./?q#f", " https://example.org/b/../%7Ea/?%71 "} {
		got, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got.ID != layout.IdentityOf(canonical) {
			t.Errorf("Parse(%q) = %s, want the identity of %s", raw, got.URL, canonical)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, test := range []struct{ base, ref, want string }{
		{"http://a.org/b/c?d", "", "http://a.org/b/c?d"},
		{"http://a.org/b/c?d", "#e", "http://a.org/b/c?d"},
		{"http://a.org/b/c?d", " ", "http://a.org/b/c?d"},
		{"http://a.org/b/c?d", "?e", "http://a.org/b/c?e"},
		{"http://a.org/b/c?d/e", "f", "http://a.org/b/f"},
		{"http://a.org/b/c", "d.html#e", "http://a.org/b/d.html"},
		{"http://a.org/b/c", "d #e", "http://a.org/b/d%20"},
		{"http://a.org/b/c", "./d", "http://a.org/b/d"},
		{"http://a.org/b/c", "../../../d", "http://a.org/d"},
		{"http://a.org/b/c", "..", "http://a.org/"},
		{"http://a.org/b//c", "../d", "http://a.org/b/d"},
		{"http://a.org/b/c/d", "..//e", "http://a.org/b//e"},
		{"http://a.org/b/c", "d/../e", "http://a.org/b/e"},
		{"http://a.org/b/c", "/d", "http://a.org/d"},
		{"http://a.org/b/c", `\d`, "http://a.org/d"},
		{"https://a.org/b/c", "//d.org/e", "https://d.org/e"},
		{"https://a.org/b/c", "//d.org", "https://d.org/"},
		{"https://a.org/b/c", "http://d.org/e", "http://d.org/e"},
		{"http://a.org/b/c", "http:d", "http://a.org/b/d"},
		{"http://a.org:8080/b", "https:d", "https://d/"},
		{"http://a.org/b/c", "é", "http://a.org/b/%C3%A9"},
		{"http://a.org/b/c", "http://a.org.b.net/", "http://a.org.b.net/"},
		{"http://www.a.org/b/c", "http://b.a.org/", "http://b.a.org/"},
		{"http://a.org/b", "http://a.org:81/b", "http://a.org:81/b"},
	} {
		base, err := Parse(test.base)
		if err != nil {
			t.Fatal(err)
		}
		got, err := base.Resolve(test.ref)
		if err != nil {
			t.Errorf("%q on %s: %v", test.ref, test.base, err)
			continue
		}
		if got.URL != test.want {
			t.Errorf("%q on %s = %s, want %s", test.ref, test.base, got.URL, test.want)
		}
		if want, err := Parse(test.want); err != nil || got != want {
			t.Errorf("%q on %s = %+v, want %+v (%v)", test.ref, test.base, got, want, err)
		}
	}
}

func TestRefused(t *testing.T) {
	base, err := Parse("http://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		ref  string
		want error
	}{
		{"ftp://example.org/", ErrScheme},
		{"file:///etc/passwd", ErrScheme},
		{"mailto:joe@example.org", ErrScheme},
		{"JavaScript:void(0)", ErrScheme},
		{"java\nscript:void(0)", ErrScheme},
		{"data:text/plain," + strings.Repeat("x", 1<<20), ErrScheme},
		{"httpx://example.org/", ErrScheme},
		{"http://example.org/" + strings.Repeat("x", MaxBytes), ErrTooLong},
		{"http://example.org/" + strings.Repeat("é", MaxBytes/3), ErrTooLong},
		{"http://example.org/" + strings.Repeat("x/../", 1<<20), ErrTooLong},
	} {
		if _, err := Parse(test.ref); !errors.Is(err, test.want) {
			t.Errorf("Parse(%.60q): %v, want %v", test.ref, err, test.want)
		}
		if _, err := base.Resolve(test.ref); !errors.Is(err, test.want) {
			t.Errorf("Resolve(%.60q): %v, want %v", test.ref, err, test.want)
		}
	}
	for _, raw := range []string{"", "#", "example.org", "/path", "http://", "http://a b/", "http://a:65536/", "http://a:x/",
		"http://[::1", "http://1.2.3.256/", "http://1.2.3.4.5/", "http://xn--/", "http://a%00b/", "http://%25.org/", "http://\xff.org/",
		"http://./", "http://../", "http://a..b/", "http://.a/", "http://a../"} {
		if a, err := Parse(raw); err == nil {
			t.Errorf("Parse(%q) = %s, want an error", raw, a.URL)
		}
	}
}

func TestLongestAddress(t *testing.T) {
	longest := "http://example.org/" + strings.Repeat("x", MaxBytes-len("http://example.org/"))
	for _, raw := range []string{longest, longest + "#" + strings.Repeat("fragment", 10000)} {
		if a, err := Parse(raw); err != nil || a.URL != longest {
			t.Errorf("Parse of %d bytes: %v", len(raw), err)
		}
	}
	if _, err := Parse(longest + "x"); !errors.Is(err, ErrTooLong) {
		t.Errorf("Parse of %d bytes: %v, want %v", len(longest)+1, err, ErrTooLong)
	}
}
