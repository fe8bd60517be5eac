package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

// TestCopy checks the page that shows a stored copy, the frame in it, and the view of its text.
func TestCopy(t *testing.T) {
	h := newLibrary(t)
	page := parsed(t, querytest.Ask(h, "GET", storkCopy).Body.String())
	frame := page.Find("iframe")
	if frame.AttrOr("sandbox", "") != "allow-top-navigation-by-user-activation" || page.Find("h1").Text() != "The stork" ||
		page.Find(".ways a").First().AttrOr("href", "") != storkPage || !strings.Contains(page.Find(".banner").Text(), "a copy from 21 November 2026") {
		t.Errorf("banner %s, frame %v", page.Find(".banner").Text(), frame.Nodes)
	}
	w := querytest.Ask(h, "GET", frame.AttrOr("src", ""))
	if policy := w.Header().Get("Content-Security-Policy"); w.Code != http.StatusOK || policy != framePolicy || strings.Contains(policy, "script") ||
		w.Header().Get("Connection-Allowlist") != storedConnections || w.Header().Get("X-Robots-Tag") != "noindex" {
		t.Errorf("frame: %d %v", w.Code, w.Header())
	}
	if body := w.Body.String(); !strings.Contains(body, `<a href="/copy?url=https%3A%2F%2Fexample.org%2Fbirds" target="_top">white</a>`) ||
		!strings.Contains(body, `<img src="/page?url=https%3A%2F%2Fexample.org%2Fstork.png" alt="A stork" loading="lazy">`) {
		t.Errorf("frame: %s", body)
	}

	text := parsed(t, querytest.Ask(h, "GET", page.Find(".ways a").Last().AttrOr("href", "")).Body.String()).Find("article")
	if diff := cmp.Diff([]string{"white", "stork"}, text.Find("mark").Map(func(_ int, s *goquery.Selection) string { return s.Text() })[:2]); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	if text.Find("h2").Text() != "Food" || text.Find("li").Length() != 2 || text.Find("pre").Text() != "a  b\nc" || text.Find("td").Length() != 2 {
		html, _ := text.Html()
		t.Errorf("text: %s", html)
	}
	if link := text.Find("p a"); link.Text() != "white" || link.AttrOr("href", "") != "/copy?url=https%3A%2F%2Fexample.org%2Fbirds" {
		t.Errorf("a link of the text is %q to %s", link.Text(), link.AttrOr("href", ""))
	}

	pdf := parsed(t, querytest.Ask(h, "GET", "/copy?url="+germanPage).Body.String())
	if pdf.Find("iframe").Length() > 0 || pdf.Find("a[download]").AttrOr("href", "") != "/page?url="+url.QueryEscape(germanPage) {
		t.Errorf("a copy that is no page: %s", pdf.Find("main").Text())
	}
	image := parsed(t, querytest.Ask(h, "GET", "/copy?url=https://example.org/stork.png").Body.String())
	if image.Find("iframe").Length() != 1 || image.Find(".ways a").Length() != 1 {
		t.Errorf("an image: %s", image.Find("main").Text())
	}
	none := parsed(t, querytest.Ask(h, "GET", "/copy?url=https://example.org/absent").Body.String())
	if none.Find("main a").AttrOr("href", "") != "https://example.org/absent" || !strings.Contains(none.Text(), "No copy of https://example.org/absent is stored.") {
		t.Errorf("no copy: %s", none.Find("main").Text())
	}
	if w := querytest.AskJSON(h, "/copy?url=https://example.org/absent"); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `"error"`) {
		t.Errorf("no copy, as JSON: %d %s", w.Code, w.Body)
	}
	for _, target := range []string{"/copy", "/copy/frame?url=file:///etc/passwd", "/copy?url=https://example.org/&asof=x"} {
		if w := querytest.Ask(h, "GET", target); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}

// TestOtherCopies publishes three versions of a page, and follows the links to the other copies.
func TestOtherCopies(t *testing.T) {
	s := newStore(t, 1)
	h := Handler(Site{Engine: s.engine(s.Bucket)})
	for _, body := range []string{"first", "second", "third"} {
		s.Clock.Advance(time.Hour)
		s.Publish(querytest.Page{URL: storkPage, MIME: "text/html", Data: "<title>Stork</title>" + body, Title: "Stork", Body: body})
		s.Token += 3600 // the copy is an hour newer
	}
	shown := func(target string) (body string, links []string) {
		page := parsed(t, querytest.Ask(h, "GET", target).Body.String())
		page.Find(".versions a").Each(func(_ int, a *goquery.Selection) { links = append(links, a.AttrOr("href", "")) })
		return querytest.Ask(h, "GET", page.Find("iframe").AttrOr("src", "")).Body.String(), links
	}
	body, links := shown("/copy?url=" + storkPage)
	if !strings.HasSuffix(body, "third") || len(links) != 2 {
		t.Fatalf("the newest copy is %q; others are at %v", body, links)
	}
	for i, want := range []string{"second", "first"} {
		if body, others := shown(links[i]); !strings.HasSuffix(body, want) || len(others) != 2 {
			t.Errorf("%s shows %q, and names %v", links[i], body, others)
		}
	}
}

func TestRefer(t *testing.T) {
	base, err := url.Parse("https://example.org/a/b.html")
	if err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]string{
		`<p CLASS=x>text &amp; <b>more</p>`:              `<p CLASS=x>text &amp; <b>more</p>`,
		`<a href="c.html?x=1&amp;y#z">`:                  `<a href="/copy?url=https%3A%2F%2Fexample.org%2Fa%2Fc.html%3Fx%3D1%26y%23z" target="_top">`,
		`<a href="#z" target=_blank>`:                    `<a href="#z">`,
		`<a href="b.html#%41 b">`:                        `<a href="#A%20b">`,
		`<a href="javascript:alert(1)">`:                 `<a href="javascript:alert(1)">`,
		`<a name=x>`:                                     `<a name="x">`,
		`<a href="/x" ping="/log" download>`:             `<a href="/copy?url=https%3A%2F%2Fexample.org%2Fx" target="_top">`,
		`<img src=i.png srcset="j.png 2x">`:              `<img src="/page?url=https%3A%2F%2Fexample.org%2Fa%2Fi.png" loading="lazy">`,
		`<img src="data:image/gif,x">`:                   `<img src="data:image/gif,x">`,
		`<link rel="Stylesheet" href=s.css integrity=x>`: `<link rel="Stylesheet" href="/copy/frame?url=https%3A%2F%2Fexample.org%2Fa%2Fs.css">`,
		`<link rel=preconnect href=//example.com/>x`:     `x`,
		`<base href="/other/"><a href=c>`:                `<a href="/copy?url=https%3A%2F%2Fexample.org%2Fother%2Fc" target="_top">`,
		`<script>"<a href=c>"</script>`:                  `<script>"<a href=c>"</script>`,
		`<!-- <a href=c> --><a href=`:                    `<!-- <a href=c> -->`,
	} {
		if got := string(refer([]byte(page), base, time.Time{})); got != want {
			t.Errorf("%s becomes %s, want %s", page, got, want)
		}
	}
	many := strings.Repeat(`<img src=i>`, maxReferences+1)
	if got := string(refer([]byte(many), base, time.Time{})); strings.Count(got, "/page?") != maxReferences {
		t.Errorf("%d references were changed, want %d", strings.Count(got, "/page?"), maxReferences)
	}
}

func TestReferStyle(t *testing.T) {
	base, err := url.Parse("https://example.org/css/a.css")
	if err != nil {
		t.Fatal(err)
	}
	for sheet, want := range map[string]string{
		`p { color: red }`:                    `p { color: red }`,
		`@import "b.css" screen;`:             `@import url("/copy/frame?url=https%3A%2F%2Fexample.org%2Fcss%2Fb.css") screen;`,
		`@import url(../c.css);x`:             `@import url("/copy/frame?url=https%3A%2F%2Fexample.org%2Fc.css") ;x`,
		`a{b:url('i.png'), URL( j.png )}`:     `a{b:url("/page?url=https%3A%2F%2Fexample.org%2Fcss%2Fi.png"), url("/page?url=https%3A%2F%2Fexample.org%2Fcss%2Fj.png")}`,
		`a{b:url(data:image/gif,x)}`:          `a{b:url(data:image/gif,x)}`,
		`a{b:url(#clip) url("javascript:x")}`: `a{b:url(#clip) url("javascript:x")}`,
	} {
		if got := string(referStyle([]byte(sheet), base, time.Time{})); got != want {
			t.Errorf("%s becomes %s, want %s", sheet, got, want)
		}
	}
}

// FuzzRefer checks that no page makes refer fail, and that references lead nowhere but to this server.
func FuzzRefer(f *testing.F) {
	f.Add(`<base href=//x/><a href=c><img src=//y/z><link rel=stylesheet href=s>`)
	f.Add(`<a href="&#106;avascript:x"><source srcset=x><area href=http://[::1]:99999/>`)
	f.Fuzz(func(t *testing.T, page string) {
		base, err := url.Parse("https://example.org/a/b.html")
		if err != nil {
			t.Fatal(err)
		}
		referStyle([]byte(page), base, time.Time{})
		out := refer([]byte(page), base, time.Time{})
		parsed(t, string(out)).Find("img[src], link[href]").Each(func(_ int, s *goquery.Selection) {
			to := s.AttrOr("src", s.AttrOr("href", ""))
			if u, err := url.Parse(strings.TrimSpace(to)); err == nil && (u.Scheme == "http" || u.Scheme == "https") && goquery.NodeName(s) == "link" {
				t.Errorf("a style sheet of %s stays in %q", to, out)
			}
		})
	})
}
