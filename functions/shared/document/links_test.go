package document

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// found has the fields of a Link that the tests compare. In place of the whole address it has only
// the URL.
type found struct {
	URL    string
	Kind   book.Kind
	Region book.Region
	Rel    string
	Anchor string
	Around string
}

func linksOf(t *testing.T, page string) []found {
	t.Helper()
	base, err := address.Parse("http://a.test/dir/page.html")
	if err != nil {
		t.Fatal(err)
	}
	var all []found
	for _, l := range Parse([]byte(page)).Links(base) {
		if want, err := address.Parse(l.Address.URL); err != nil || want != l.Address {
			t.Errorf("address of %s is %+v, want %+v (%v)", l.Address.URL, l.Address, want, err)
		}
		all = append(all, found{l.Address.URL, l.Kind, l.Region, l.Rel, l.Anchor, l.Around})
	}
	return all
}

func TestLinks(t *testing.T) {
	const a, f, i, r, c = book.Anchor, book.Frame, book.Asset, book.Redirect, book.Canonical
	const text, navigation = book.Text, book.Navigation
	for name, tt := range map[string]struct {
		page string
		want []found
	}{
		"relative": {`<p>go <a href="../x?q#f">over
			<b>there</b></a> now`, []found{{"http://a.test/x?q", a, text, "", "over there", "go now"}}},
		"base":               {`<base href="/base/x"><a href=y>y</a>`, []found{{"http://a.test/base/y", a, text, "", "y", ""}}},
		"base is no address": {`<base href="mailto:x"><a href=y>y</a>`, []found{{"http://a.test/dir/y", a, text, "", "y", ""}}},
		"not followed":       {`<a href="#x">1</a><a href="javascript:x()">2</a><a href="mailto:a@b">3</a><a name=x>4</a><a href="page.html">5</a><a href="http://[">6</a><a href>7</a>`, nil},
		"image in a link": {`<a href=x><img src=i.png alt=" an
			image "></a>`, []found{{"http://a.test/dir/x", a, text, "", "an image", ""}, {"http://a.test/dir/i.png", i, text, "", "an image", ""}}},
		"title as anchor": {`<a href=x title="a title"></a>`, []found{{"http://a.test/dir/x", a, text, "", "a title", ""}}},
		"frames and areas": {`<iframe src=1 title=one></iframe><map><area href=2 alt=two></map><frameset><frame src=3></frameset>`, []found{
			{"http://a.test/dir/1", f, text, "", "one", ""}, {"http://a.test/dir/2", a, text, "", "two", ""}, {"http://a.test/dir/3", f, text, "", "", ""}}},
		"canonical and refresh": {`<link rel=canonical href="page.html"><meta http-equiv=refresh content="0;url=/new">`, []found{
			{"http://a.test/new", r, text, "", "", ""}, {"http://a.test/dir/page.html", c, text, "canonical", "", ""}}},
		"rel":           {`<a rel="UGC nofollow ugc" href=x>x</a>`, []found{{"http://a.test/dir/x", a, text, "nofollow ugc", "x", ""}}},
		"page nofollow": {`<meta name=robots content=nofollow><a rel=me href=x>x</a>`, []found{{"http://a.test/dir/x", a, text, "me nofollow", "x", ""}}},
		"mail": {`<p>Ask <a href="MAILTO:jane@Example.org?subject=x">Jane</a> or <a href="mailto:joe@example.org"><img src=i.png></a> now.<a href="mailto:joe(at)example.org">x</a><iframe src="mailto:jim@example.org"></iframe>`, []found{
			{"http://example.org:25/jane", a, text, "", "Jane", "Ask or now.x"}, {"http://example.org:25/joe", a, text, "", "joe@example.org", "Ask Jane or now.x"},
			{"http://a.test/dir/i.png", i, text, "", "", "Ask Jane or now.x"}}},
		"said once": {`<a href=x>x</a> <a href="x#part">x</a> <a href=x>y</a>`, []found{
			{"http://a.test/dir/x", a, text, "", "x", "x y"}, {"http://a.test/dir/x", a, text, "", "y", "x x"}}},
		"block ends the words around": {`<p>one</p><div>two <a href=x>x</a> three</div>four`, []found{{"http://a.test/dir/x", a, text, "", "x", "two three"}}},
		"navigation": {`<div class="NavBar left"><a href=1>1</a></div><nav><ul><li><a href=2>2</a></ul></nav><main class=has-sidebar><a href=3>3</a></main><footer><a href=4>4</a></footer>`, []found{
			{"http://a.test/dir/1", a, navigation, "", "1", ""}, {"http://a.test/dir/2", a, navigation, "", "2", ""},
			{"http://a.test/dir/3", a, text, "", "3", ""}, {"http://a.test/dir/4", a, navigation, "", "4", ""}}},
		"headers": {`<header><a href=1>1</a></header><article><header><a href=2>2</a></header></article>`, []found{
			{"http://a.test/dir/1", a, navigation, "", "1", ""}, {"http://a.test/dir/2", a, text, "", "2", ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, linksOf(t, tt.page)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLinksCaps(t *testing.T) {
	t.Run("mail", func(t *testing.T) {
		var page strings.Builder
		for i := range maxMails + 10 {
			fmt.Fprintf(&page, "<a href=mailto:j%d@example.org>mail</a>", i)
		}
		d := Parse([]byte(page.String() + "<a href=x>x</a>"))
		base, err := address.Parse("http://a.test/")
		if err != nil {
			t.Fatal(err)
		}
		if n := len(d.Links(base)); n != maxMails+1 {
			t.Errorf("%d links, want %d", n, maxMails+1)
		}
		if told := "10 links to mail addresses beyond 200"; !slices.Contains(d.Omitted, told) {
			t.Errorf("omitted: %q, want %q", d.Omitted, told)
		}
	})
	t.Run("number", func(t *testing.T) {
		var page strings.Builder
		for i := range hypertext.MaxReferences + 10 {
			fmt.Fprintf(&page, "<a href=%d>%d</a>", i, i)
		}
		if n := len(linksOf(t, page.String())); n != hypertext.MaxReferences {
			t.Errorf("%d links, want %d", n, hypertext.MaxReferences)
		}
	})
	t.Run("lengths", func(t *testing.T) {
		long := strings.Repeat("é", 300)
		got := linksOf(t, long+"<a href=x>x"+long+"</a>"+long)
		if len(got) != 1 || len(got[0].Anchor) != MaxAnchor-1 || len(got[0].Around) > 2*MaxAround {
			t.Fatalf("got %+v", got)
		}
		if strings.ContainsRune(got[0].Anchor+got[0].Around, '\uFFFD') {
			t.Errorf("a letter was split in %+v", got[0])
		}
	})
}
