package system

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/command/check"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

const english = "<p>The heron stands in the shallow water of the pond and waits for the fish that swim between the reeds."

// checkedSite starts a server with the given files, whose keys are paths, and returns its address. If the
// content of a file begins with "->", the rest of the content is the target of a redirect. In every file,
// SITE is replaced by the address of the server.
func checkedSite(t *testing.T, files map[string]string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, found := files[r.URL.Path]
		content = strings.ReplaceAll(content, "SITE", "http://"+r.Host)
		to, moved := strings.CutPrefix(content, "->")
		switch {
		case !found:
			http.NotFound(w, r)
		case moved:
			http.Redirect(w, r, to, http.StatusFound)
		default:
			fmt.Fprint(w, content)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// checked checks a collection and returns the report. The parameter web is the address of the site, and
// pages is check.Task.Pages. The seeds of c are paths on this site. In the report, SITE stands for the
// address of the site.
func checked(t *testing.T, web string, pages int, c collection.Collection) *check.Report {
	t.Helper()
	c.Name, c.HostConnections = "pond", 1
	for i := range c.Seeds {
		c.Seeds[i] = collection.Seed{URL: web + c.Seeds[i].URL, Scope: collection.Prefix, Depth: collection.Unlimited}
	}
	r, err := Check(t.Context(), Options{Agent: "test (+https://example.org/)", AllowPrivate: true}, c, pages, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Pages {
		p := &r.Pages[i]
		for _, text := range []*string{&p.URL, &p.From, &p.To, &p.Detail} {
			*text = strings.ReplaceAll(*text, web, "SITE")
		}
		for _, g := range p.Links {
			for j := range g.Examples {
				g.Examples[j] = strings.ReplaceAll(g.Examples[j], web, "SITE")
			}
			slices.Sort(g.Examples) // which follow the hashes of the addresses
		}
		for j := range p.Links {
			p.Links[j].Rule = strings.ReplaceAll(p.Links[j].Rule, web, "SITE")
		}
	}
	return r
}

func seedsAt(paths ...string) (all []collection.Seed) {
	for _, path := range paths {
		all = append(all, collection.Seed{URL: path})
	}
	return all
}

// What becomes of a seed, and whether it leads to a page that can be found.
func TestCheckSeeds(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"/robots.txt": "User-agent: *\nDisallow: /private/\n",
		"/":           "<title>Pond</title>" + english,
		"/moved/":     "->/",
		"/away/":      "->/other/",
		"/other/":     "<title>Other</title>" + english,
		"/hidden/":    `<title>Hidden</title><meta name=robots content="noindex, nofollow">` + english + "<a href=/hidden/x>X</a>",
		"/scripts/":   `<title>App</title><div id=root></div><script src=/app.js></script>`,
		"/german/":    "<html lang=de><title>Teich</title><p>Der Reiher steht im seichten Wasser des Teiches und wartet auf die Fische, die zwischen dem Schilf schwimmen.",
		"/private/":   "secret",
		"/text.bin":   "\x00\x01\x02\x03",
	}
	web := checkedSite(t, files)
	for _, test := range []struct {
		path, language string
		want           []check.Page
		found          bool
	}{
		{"/", "en", []check.Page{{URL: "SITE/", State: "stored", Status: 200, Title: "Pond", Language: "en"}}, true},
		{"/moved/", "", []check.Page{{URL: "SITE/moved/", State: "skipped", Reason: "redirect", Status: 302, To: "SITE/", Refused: "out of scope"}}, false},
		{"/hidden/", "", []check.Page{{URL: "SITE/hidden/", State: "stored", Status: 200, Title: "Hidden", Language: "en", NoIndex: true, NoFollow: true}}, false},
		{"/scripts/", "", []check.Page{{URL: "SITE/scripts/", State: "stored", Reason: "needs scripts", Status: 200, Title: "App"}}, true},
		{"/german/", "en", []check.Page{{URL: "SITE/german/", State: "stored", Status: 200, Title: "Teich", Language: "de", WrongLanguage: true}}, false},
		{"/private/", "", []check.Page{{URL: "SITE/private/", State: "skipped", Reason: "robots"}}, false},
		{"/nowhere/", "", []check.Page{{URL: "SITE/nowhere/", State: "failed", Reason: "http 404", Status: 404}}, false},
		{"/text.bin", "", []check.Page{{URL: "SITE/text.bin", State: "skipped", Reason: "type", Status: 200}}, false},
	} {
		got := checked(t, web, 0, collection.Collection{Seeds: seedsAt(test.path), Language: test.language})
		found := len(got.Unfound()) == 0
		for i := range got.Pages {
			p := &got.Pages[i]
			p.Seed, p.Detail, p.MIME, p.LangSource, p.Links = false, "", "", "", nil
		}
		if diff := cmp.Diff(test.want, got.Pages); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.path, diff)
		}
		if found != test.found {
			t.Errorf("%s leads to a page that can be found: %v, want %v", test.path, found, test.found)
		}
	}
	got := checked(t, web, 0, collection.Collection{Seeds: seedsAt("/moved/", "/", "/away/")})
	var urls []string
	for _, p := range got.Pages {
		urls = append(urls, p.URL+" from "+p.From+" to "+p.To+p.Refused)
	}
	want := []string{"SITE/moved/ from  to SITE/", "SITE/ from  to ", "SITE/away/ from  to SITE/other/", "SITE/other/ from SITE/away/ to "}
	if diff := cmp.Diff(want, urls); diff != "" || len(got.Unfound()) != 0 {
		t.Errorf("seeds that lead to others; %v lead nowhere (-want +got):\n%s", got.Unfound(), diff)
	}
}

// Links are counted by the setting that decides about them, and followed as far as Task.Pages wants.
func TestCheckLinks(t *testing.T) {
	t.Parallel()
	web := checkedSite(t, map[string]string{
		"/docs/": english + `<a href=a>A</a> <a href=a#x>A</a> <a href=b>B</a> <a href=c>C</a>
			<a href=old/e>E</a> <a href=/f>F</a> <a href=https://example.org/>G</a>`,
		"/docs/a": english + "<a href=/docs/>up</a>",
		"/docs/b": english,
	})
	got := checked(t, web, 2, collection.Collection{Seeds: seedsAt("/docs/"), Exclude: []string{"*/new/*", "*/old/*"}})
	want := []check.Group{
		{Rule: "scope prefix of seed SITE/docs/", Count: 3, Examples: []string{"SITE/docs/a", "SITE/docs/b", "SITE/docs/c"}},
		{Reason: "out of scope", Count: 2, Examples: []string{"SITE/f", "https://example.org/"}},
		{Reason: "excluded", Rule: `exclude "*/old/*"`, Count: 1, Examples: []string{"SITE/docs/old/e"}},
	}
	if diff := cmp.Diff(want, got.Pages[0].Links); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got.Pages) != 3 || got.Pages[1].Seed || got.Pages[1].Depth != 1 || got.Pages[1].URL == got.Pages[2].URL {
		t.Errorf("%+v, want two of the pages a, b and c after the seed", got.Pages)
	}
	got = checked(t, web, 20, collection.Collection{Seeds: seedsAt("/docs/"), Exclude: []string{"*/old/*"}})
	if len(got.Pages) != 4 {
		t.Errorf("%d pages, want the seed and all to which it leads", len(got.Pages))
	}
}

// The time that a crawl takes follows from the sitemaps and the delays.
func TestCheckTime(t *testing.T) {
	t.Parallel()
	web := checkedSite(t, map[string]string{
		"/robots.txt": "User-agent: *\nCrawl-delay: 0.05\nSitemap: SITE/index.xml\nSitemap: SITE/none.xml\n",
		"/":           english,
		"/index.xml":  "<sitemapindex><sitemap><loc>SITE/1.xml</loc></sitemap><sitemap><loc>SITE/2.txt</loc></sitemap></sitemapindex>",
		"/1.xml":      "<urlset><url><loc>SITE/a</loc></url><url><loc>SITE/b</loc></url><url><loc>SITE/x/c</loc></url></urlset>",
		"/2.txt":      "SITE/a\nSITE/d\n",
	})
	got := checked(t, web, 0, collection.Collection{Seeds: seedsAt("/"), Exclude: []string{"*/x/*"}})
	if got.Listed != 3 {
		t.Errorf("%d pages are listed, want a, b and d", got.Listed)
	}
	read := map[string]int{}
	for _, s := range got.Sitemaps {
		read[fmt.Sprintf("%s %v", strings.TrimPrefix(s.URL, web), s.Found)] = len(s.Links)
	}
	if diff := cmp.Diff(map[string]int{"/index.xml true": 0, "/none.xml false": 0, "/1.xml true": 2, "/2.txt true": 1}, read); diff != "" {
		t.Errorf("sitemaps, and their groups of links (-want +got):\n%s", diff)
	}
	h := got.Hosts[0]
	if h.Delay != 0.05 || h.Robots != 200 || h.Page < h.Delay || h.Seconds < 3*h.Delay || got.Seconds != h.Seconds {
		t.Errorf("%+v, %v s: want at least three delays of 0.05 s", h, got.Seconds)
	}
	got = checked(t, web, 0, collection.Collection{Seeds: seedsAt("/"), Pages: 1, Delay: 0})
	if h := got.Hosts[0]; h.Seconds != h.Page {
		t.Errorf("a crawl of one page takes %v s, and a page %v s", h.Seconds, h.Page)
	}
}
