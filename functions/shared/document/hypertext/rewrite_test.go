package hypertext

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestRewrite(t *testing.T) {
	for markup, want := range map[string]string{
		"<p>no address":                             "<p>no address",
		`<a href="b">c</a><A HREF='b'>c</A>`:        `<a href="<b>">c</a><A HREF='<b>'>c</A>`,
		"<a href=b class=c>d":                       `<a href="<b>" class=c>d`,
		`<a href="?a=1&amp;b=2">`:                   `<a href="<?a=1&amp;b=2>">`,
		`<a name=b><a href>`:                        `<a name=b><a href>`,
		`<img src=b srcset="c 1x, d,e 2x" alt="f">`: `<img src="<b+>" srcset="<c+> 1x, <d,e+> 2x" alt="f">`,
		`<source srcset="a, b (x,y) 2x,c">`:         `<source srcset="<a+>, <b+> (x,y) 2x,<c+>">`,
		`<script src=a.js>"<a href=b>"</script><link rel="x Stylesheet" href=c>`:                                      `<script src="<a.js+script>">"<a href=b>"</script><link rel="x Stylesheet" href="<c+x stylesheet>">`,
		`<link rel=canonical href=a><link rel=next href=b>`:                                                           `<link rel=canonical href=a><link rel=next href="<b>">`,
		`<style>@import "a";b{c:url(d)}</style><p style="e:url(&quot;f&quot;)">`:                                      `<style>@import "<a+stylesheet>";b{c:url(<d+>)}</style><p style="e:url(&quot;<f+>&quot;)">`,
		`<meta http-equiv=Refresh content="5; URL='a.html'">`:                                                         `<meta http-equiv=Refresh content="5; url=<a.html>">`,
		`<video src=a poster=b><form action=c><base href=d>`:                                                          `<video src="<a~>" poster="<b+>"><form action="<c~>"><base href="<d^>">`,
		`<!-- <a href=b> --><textarea><a href=c></textarea><a href=d`:                                                 `<!-- <a href=b> --><textarea><a href=c></textarea><a href=d`,
		`<svg><style>a{b:url(c)}</style><image xlink:href=d /></svg>`:                                                 `<svg><style>a{b:url(<c+>)}</style><image xlink:href="<d+>" /></svg>`,
		`<link integrity=a crossorigin rel=stylesheet href=b><meta http-equiv="Content-Security-Policy" content="c">`: `<link data-integrity=a data-crossorigin rel=stylesheet href="<b+stylesheet>"><meta data-http-equiv="Content-Security-Policy" content="c">`,
	} {
		w := Rewriter{Detach: true, Replace: func(a Address) string {
			return "<" + a.URL + map[Use]string{ToAsset: "+", ToOther: "~", ToBase: "^"}[a.Use] + a.Rel + ">"
		}}
		if got := string(w.Rewrite([]byte(markup))); got != want {
			t.Errorf("%s\n got %s\nwant %s", markup, got, want)
		}
	}
}

// FuzzAddresses replaces all addresses in a page by new ones. In the result, a second Rewrite must
// find exactly the new addresses, in the same order.
func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{`<a href="b&amp;c">d`, "<img srcset='a 1x,b'>", "<style>a{b:url(c)}", `<meta http-equiv=refresh content="0;url=a">`, "<svg><![CDATA[<a href=b>]]>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, markup []byte) {
		var found, again []string
		w := Rewriter{Replace: func(a Address) string {
			found = append(found, fmt.Sprintf("x%d&y", len(found)))
			return found[len(found)-1]
		}}
		out := w.Rewrite(bytes.Clone(markup))
		w.Replace = func(a Address) string {
			again = append(again, a.URL)
			return a.URL
		}
		if same := w.Rewrite(out); !bytes.Equal(same, out) || strings.Join(found, " ") != strings.Join(again, " ") {
			t.Errorf("%q became %q, with %q and not %q", markup, out, again, found)
		}
	})
}
