package address

import (
	"strings"
	"testing"
)

// FuzzParse proves that parsing a canonical form does not change it, and that the shortcut for
// plain addresses has the same result as the full parser.
func FuzzParse(f *testing.F) {
	for _, raw := range []string{
		"https://example.org/a/b.html?q=1#f", "HTTP://u:p@EXAMPLE.org:80/%7e/../%2e/x y", "http://127.1:8080/%2%35",
		"http://Bücher.example/é?ü", "http://[1::2]/", `http:\\a\b`, "http://a.b-/-", "http://0x7f.1/", "http://a--b.c/?'", "http://a:0/",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		once, err := Parse(raw)
		if full, fullErr := standardize("", raw); (err == nil) != (fullErr == nil) && len(raw) <= MaxBytes {
			t.Fatalf("Parse(%q): %v, the full parser: %v", raw, err, fullErr)
		} else if fullErr == nil && full != once.URL {
			t.Fatalf("Parse(%q) = %q, the full parser says %q", raw, once.URL, full)
		}
		if err != nil {
			return
		}
		if len(once.URL) > MaxBytes || strings.ContainsAny(once.URL, "# \x00\t\n") {
			t.Fatalf("Parse(%q) = %q is not canonical", raw, once.URL)
		}
		if once.Origin+once.Path != once.URL || once.Host == "" || once.Site == "" || once.Path[0] != '/' {
			t.Fatalf("Parse(%q): wrong parts %+v", raw, once)
		}
		if twice, err := Parse(once.URL); err != nil || twice != once {
			t.Fatalf("Parse(%q) = %+v, again %+v, %v", raw, once, twice, err)
		}
		if twice, err := standardize("", once.URL); err != nil || twice != once.URL {
			t.Fatalf("Parse(%q) = %q, the full parser makes it %q, %v", raw, once.URL, twice, err)
		}
	})
}

// FuzzResolve proves that Resolve, which has a shortcut for plain references, has the same result as
// the full parser.
func FuzzResolve(f *testing.F) {
	for _, ref := range []string{"", "../x", "..//x", "./../a/./b", "?q", "//h/p", "/p", "http:x", "https:x", "a:b", "http://h/%zz", ".", "x #y", "\\x", "%2e%2e/y"} {
		f.Add("http://example.org/a/b//c?d", ref)
		f.Add("https://example.org:8080/", ref)
	}
	f.Fuzz(func(t *testing.T, page, ref string) {
		base, err := Parse(page)
		if err != nil {
			return
		}
		got, err := base.Resolve(ref)
		full, fullErr := standardize(base.URL, ref)
		if (err == nil) != (fullErr == nil) && len(ref) <= MaxBytes {
			t.Fatalf("%q on %s: %v, the full parser: %v", ref, base.URL, err, fullErr)
		}
		if fullErr == nil && full != got.URL {
			t.Fatalf("%q on %s = %q, the full parser says %q", ref, base.URL, got.URL, full)
		}
	})
}

func FuzzNormalEscapes(f *testing.F) {
	for _, s := range []string{"%7e%c3%a9", "%2%35", "%", "é\xff", "%25%34%31", "%fF"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := NormalEscapes(s)
		if twice := NormalEscapes(once); twice != once {
			t.Fatalf("NormalEscapes(%q) = %q, again %q", s, once, twice)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	base, err := Parse("http://127.0.0.1:8080/python3.11/html/library/index.html")
	if err != nil {
		b.Fatal(err)
	}
	for _, test := range []struct{ name, ref string }{
		{"relative", "../c-api/intro.html#include-files"},
		{"absolute", "https://docs.python.org/3/library/urllib.parse.html"},
		{"escaped", "../c-api/some%20page.html?a=b%2Fc"},
		{"full", "../c-api/Müller page.html"},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := base.Resolve(test.ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
