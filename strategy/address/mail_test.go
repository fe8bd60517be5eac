package address

import (
	"errors"
	"strings"
	"testing"
)

func TestParseMail(t *testing.T) {
	for ref, want := range map[string]string{ // "": no mail address
		"mailto:jane@example.org":                     "http://example.org:25/jane",
		"MailTo:Jane.Doe+x@Lists.EXAMPLE.org":         "http://lists.example.org:25/Jane.Doe+x",
		"mailto:jane@example.org?subject=Hello":       "http://example.org:25/jane",
		"mailto:jane@example.org#top":                 "http://example.org:25/jane",
		"mailto:%6Aane%40example.org":                 "http://example.org:25/jane",
		"mailto: jane@example.org ":                   "http://example.org:25/jane",
		"mailto:jane@example.org,joe@example.org":     "http://example.org:25/jane",
		"mailto:jane@bücher.de":                       "http://xn--bcher-kva.de:25/jane",
		"mailto:jane@example.org.":                    "http://example.org:25/jane",
		"mailto:o'neil&co=a!b$c*d_e-f~g@a.example":    "http://a.example:25/o'neil&co=a!b$c*d_e-f~g",
		"mailto:?subject=Hello":                       "",
		"mailto:jane":                                 "",
		"mailto:jane(at)example.org":                  "",
		"mailto:jane at example dot org":              "",
		"mailto:Jane Doe <jane@example.org>":          "",
		"mailto:jane@@example.org":                    "",
		"mailto:jane@example.org@example.net":         "",
		"mailto:jane@localhost":                       "",
		"mailto:jane@org":                             "",
		"mailto:jane@10.0.0.1":                        "",
		"mailto:jane@[::1]":                           "",
		"mailto:jane@example.invalid":                 "",
		"mailto:jane@example.org:80":                  "",
		"mailto:jane@example.org/page":                "",
		"mailto:jane@exa mple.org":                    "",
		"mailto:.jane@example.org":                    "",
		"mailto:jane..doe@example.org":                "",
		"mailto:jane%2Fdoe@example.org":               "",
		"mailto:%zz@example.org":                      "",
		"mailto:" + strings.Repeat("a", 65) + "@b.de": "",
		"mailto:jane@" + strings.Repeat("a.", 5000):   "",
		"tel:+4930123456":                             "",
		"https://example.org/":                        "",
		"jane@example.org":                            "",
		"":                                            "",
	} {
		a, is := ParseMail(ref)
		if is != (want != "") || is && a.URL != want {
			t.Errorf("%.60q: %q, %v; want %q", ref, a.URL, is, want)
		}
		if !is {
			if a != (Address{}) {
				t.Errorf("%.60q: no mail address, but %+v", ref, a)
			}
			continue
		}
		if again, err := Parse(a.URL); err != nil || again != a {
			t.Errorf("%q: parsed again %+v, %v; want %+v", ref, again, err, a)
		}
		if again, is := ParseMail(Shown(a.URL)); !is || again != a {
			t.Errorf("%q: shown as %s, which is %q", ref, Shown(a.URL), again.URL)
		}
	}
}

// TestShown checks that only mail addresses are shown as such.
func TestShown(t *testing.T) {
	for url, want := range map[string]string{
		"http://lists.example.org:25/jane": "mailto:jane@lists.example.org",
		"https://example.org:25/jane":      "",
		"http://example.org:25/":           "",
		"http://example.org:25/a/b":        "",
		"http://example.org:25/jane?a=b":   "",
		"http://example.org:2525/jane":     "",
		"http://example.org/a:25/jane":     "",
		"http://localhost:25/jane":         "",
		"http://10.0.0.1:25/jane":          "",
		"http://example.org/jane":          "",
	} {
		a, err := Parse(url)
		if err != nil || a.URL != url {
			t.Fatal(a.URL, err)
		}
		if a.IsMail() != (want != "") {
			t.Errorf("%s is a mail address: %v", url, a.IsMail())
		}
		if want == "" {
			want = url
		}
		if got := Shown(url); got != want {
			t.Errorf("%s is shown as %s, want %s", url, got, want)
		}
	}
	if _, err := Parse("mailto:jane@example.org"); !errors.Is(err, ErrScheme) {
		t.Errorf("a mail address is parsed as a URL: %v", err)
	}
}

// FuzzParseMail proves that mail addresses are canonical: what is shown of one leads to the same
// address.
func FuzzParseMail(f *testing.F) {
	for _, ref := range []string{"mailto:jane@example.org?subject=a", "http://example.org:25/jane", "mailto:%61@Ä.de", "http://a:25/b:25/c", "mailto:a@b.c,d@e.f"} {
		f.Add(ref)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		a, is := ParseMail(ref)
		if !is {
			if a, err := Parse(ref); err != nil || !a.IsMail() {
				return
			} else if again, is := ParseMail(Shown(a.URL)); !is || again != a {
				t.Fatalf("%q is a mail address, and is shown as %s", ref, Shown(a.URL))
			}
			return
		}
		shown := Shown(a.URL)
		if again, is := ParseMail(shown); !is || again != a || !strings.HasPrefix(shown, "mailto:") {
			t.Fatalf("ParseMail(%q) = %s, shown as %s, which is %s", ref, a.URL, shown, again.URL)
		}
	})
}
