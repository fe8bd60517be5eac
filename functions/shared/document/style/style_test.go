package style

import (
	"bytes"
	"fmt"
	"testing"
)

func TestRewrite(t *testing.T) {
	for sheet, want := range map[string]string{
		"":                                      "",
		"a{color:red}":                          "a{color:red}",
		"a{background:url(b.png)}":              "a{background:url(<b.png>)}",
		"a{background:URL( 'b c.png' )}":        "a{background:URL( '<b c.png>' )}",
		`@import "c.css" screen;d{content:"e"}`: `@import "<c.css!>" screen;d{content:"e"}`,
		`@import url(c.css);@font-face{src:url("f.woff2") format("woff2")}`: `@import url(<c.css!>);@font-face{src:url("<f.woff2>") format("woff2")}`,
		"/* url(x) */a{b:url(y)}/* url(z)":                                  "/* url(x) */a{b:url(<y>)}/* url(z)",
		`a{b:url(p\28 q\).png)}`:                                            `a{b:url(<p\(q\).png>)}`,
		`a{b:url("p\"q")}`:                                                  `a{b:url("<p\"q>")}`,
		`@charset "utf-8";@media x{a{b:url(y)}}`:                            `@charset "utf-8";@media x{a{b:url(<y>)}}`,
		"a{b:\\75rl(y)}":                                                    "a{b:\\75rl(<y>)}",
		"a{b:curl(y);c:url()}":                                              "a{b:curl(y);c:url()}",
		"a{b:url(":                                                          "a{b:url(",
		"a{b:url('y":                                                        "a{b:url('y",
		`a{b:"\`:                                                            `a{b:"\`,
		"@import 'x\ny'":                                                    "@import 'x\ny'",
	} {
		got := Rewrite([]byte(sheet), func(url string, isSheet bool) string {
			if isSheet {
				url += "!"
			}
			return "<" + url + ">"
		})
		if string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", sheet, got, want)
		}
	}
}

// FuzzRewrite replaces all addresses in a style sheet by new ones. In the result, a second Rewrite
// must find exactly the new addresses, in the same order.
func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{`@import "a";b{c:url(d)}`, `\75rl('\"')`, "/*", "url(\\"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sheet []byte) {
		var found, again []string
		out := Rewrite(bytes.Clone(sheet), func(string, bool) string {
			found = append(found, fmt.Sprintf("a(%d).png", len(found)))
			return found[len(found)-1]
		})
		same := Rewrite(out, func(url string, _ bool) string {
			again = append(again, url)
			return url
		})
		if !bytes.Equal(same, out) || fmt.Sprint(found) != fmt.Sprint(again) {
			t.Errorf("%q became %q, with %q and not %q", sheet, out, again, found)
		}
	})
}
