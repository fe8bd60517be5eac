package tests

import (
	"net/http"
	"slices"
	"testing"
)

// The crawler obeys the directives of pages for robots: it follows the links of a noindex page,
// but no search finds the page; it does not follow nofollow links.
func TestPagesAskOfCrawlers(t *testing.T) {
	t.Parallel()
	page := func(head, text string) answer {
		return answer{status: http.StatusOK, contentType: "text/html", body: "<head><title>Page</title>" + head + "</head><p>A curlew calls. " + text}
	}
	h := host{
		"/":             page("", link("unshown.html")+link("unfollowed.html")+`<a href="shunned.html" rel="nofollow">shunned</a>`+link("named.html")),
		"/unshown.html": page(`<meta name="robots" content="noindex">`, link("behind.html")),
		"/behind.html":  page("", ""),
		// This directive is only for this crawler.
		"/named.html":      page(`<meta name="bucketsearch" content="noindex">`, ""),
		"/unfollowed.html": page(`<meta name="robots" content="nofollow">`, link("never.html")),
		"/never.html":      page("", ""),
		"/shunned.html":    page("", ""),
	}
	s := serve(t, 1, func(int, []string) http.Handler { return h })
	p := newPlace(t)
	p.crawl(s.origins[0])
	p.verify()
	for _, v := range s.forget() {
		if v.url == s.origins[0]+"/never.html" || v.url == s.origins[0]+"/shunned.html" {
			t.Errorf("%s is asked for, and every link to it says nofollow", v.url)
		}
	}
	want := []string{s.origins[0] + "/", s.origins[0] + "/behind.html", s.origins[0] + "/unfollowed.html"}
	if got := p.search("curlew"); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	stored := p.picture(nil).Pages
	for _, path := range []string{"/unshown.html", "/named.html"} {
		if _, hits := stored[s.origins[0]+path]; !hits {
			t.Errorf("%s is not stored", path)
		}
	}
}
