package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/query/web/messages"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// parsed parses a page.
func parsed(t *testing.T, body string) *goquery.Document {
	t.Helper()
	page, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return page
}

const (
	germanPage = "https://example.org/de/storch"
	storkCopy  = "/copy?q=white+stork&url=" + "https%3A%2F%2Fexample.org%2Fstork"
)

// newLibrary returns a handler for an index of pages in several languages, of several sites.
func newLibrary(t *testing.T) http.Handler {
	s := newStore(t, 1)
	const stork = `<html lang=en><title>The stork</title><h1>The stork</h1><p>A <a href=/birds>white</a> stork on the roof.<h3>Food</h3><ul><li>frogs<li>mice</ul><pre>a  b
c</pre><table><tr><th>bird<th>size<tr><td>stork<td>100</table><img src=stork.png alt="A stork">`
	s.Publish(
		querytest.Page{URL: storkPage, MIME: "text/html", Data: stork, Title: "The stork | Example", Body: "The stork\nA white stork on the roof.", Lang: "en",
			Images: []segment.Image{{URL: "https://example.org/stork.png", Alt: "A stork"}}},
		querytest.Page{URL: birdsPage, MIME: "text/html", Data: "<title>Birds</title><p>Of many birds.", Title: "Birds", Body: "Of many birds one is white: the stork.", Lang: "en"},
		querytest.Page{URL: germanPage, MIME: "application/pdf", Data: "%PDF", Title: "Stork, deutsch | Example", Body: "Ein white stork auf dem Dach.", Lang: "de"},
		querytest.Page{URL: "https://example.org/stork.png", MIME: "image/png", Data: "png", Asset: true},
	)
	for i := range 12 {
		s.Publish(querytest.Page{URL: "https://many.example/" + strings.Repeat("a/", i) + "manual", MIME: "text/html", Data: "x", Title: "Manual", Body: "A manual page " + strings.Repeat("more ", i), Lang: "en"})
	}
	keys, err := judgment.ParseKeys("ann:" + annKey)
	s.Check(err)
	return Handler(Site{Engine: s.engine(s.Bucket), Judging: Judging{Keys: keys, Bucket: s.Bucket}, Suggest: "/suggest"})
}

// everyPage has an address of every kind of page.
var everyPage = map[string]int{
	"/": 200, "/search?q=stork": 200, "/search?q=manual&from=10": 200, "/search?q=stork&lang=de&after=2020-01-01": 200,
	"/search?q=stork+type:image": 200, "/search?q=absent+nowhere&site=example.org": 200, "/search?q=a&n=0": 400, "/nowhere": 404, "/judge": 200,
	storkCopy: 200, storkCopy + "&view=text": 200, "/copy?url=" + germanPage: 200, "/copy?url=https://example.org/absent": 404,
}

// TestAccessible checks the HTML of every kind of page, in every language of the interface, for what screen
// readers and users of a keyboard need.
func TestAccessible(t *testing.T) {
	h := newLibrary(t)
	for _, language := range messages.Languages {
		for target, status := range everyPage {
			w := querytest.Ask(h, "GET", target, "Accept-Language: "+language+"-XX,en;q=0.5")
			page := parsed(t, w.Body.String())
			problem := func(format string, args ...any) {
				t.Helper()
				t.Errorf(language+" "+target+": "+format, args...)
			}
			if w.Code != status {
				problem("status %d\n%s", w.Code, w.Body)
			}
			c := messages.For([]string{language})
			if root := page.Find("html"); root.AttrOr("lang", "") != language || root.AttrOr("dir", "") != c.Direction {
				problem("the page is in %s, %s", root.AttrOr("lang", ""), root.AttrOr("dir", ""))
			}
			for _, one := range []string{"title", "h1", "main", "header"} {
				if found := page.Find(one); found.Length() != 1 || strings.TrimSpace(found.Text()) == "" {
					problem("there are %d of %s, with the text %q", found.Length(), one, found.Text())
				}
			}
			last := 0
			page.Find("h1, h2, h3, h4, h5, h6").Each(func(_ int, heading *goquery.Selection) {
				level := int(goquery.NodeName(heading)[1] - '0')
				if level > last+1 && last > 0 {
					problem("the heading %q of level %d follows one of level %d", heading.Text(), level, last)
				}
				last = level
			})
			page.Find("input:not([type=hidden]), select").Each(func(_ int, field *goquery.Selection) {
				if id := field.AttrOr("id", "none"); field.Closest("label").Length()+page.Find("label[for='"+id+"']").Length() != 1 {
					problem("a field %q has no label", id)
				}
			})
			page.Find("a[href], button").Each(func(_ int, link *goquery.Selection) {
				if strings.TrimSpace(link.Text()+link.Find("img").AttrOr("alt", "")+link.AttrOr("aria-label", "")) == "" {
					problem("a link to %s has no name", link.AttrOr("href", ""))
				}
			})
			if found := page.Find("img:not([alt]), iframe:not([title]), nav:not([aria-label]), [tabindex], [style], [onclick], script:not([src])"); found.Length() > 0 {
				problem("it has %d elements that it must not have", found.Length())
			}
			ids := make(map[string]bool)
			page.Find("[id]").Each(func(_ int, s *goquery.Selection) {
				if ids[s.AttrOr("id", "")] {
					problem("two elements have the id %s", s.AttrOr("id", ""))
				}
				ids[s.AttrOr("id", "")] = true
			})
			labels := make(map[string]bool)
			page.Find("nav").Each(func(_ int, s *goquery.Selection) {
				if labels[s.AttrOr("aria-label", "")] {
					problem("two landmarks are called %s", s.AttrOr("aria-label", ""))
				}
				labels[s.AttrOr("aria-label", "")] = true
			})
		}
	}
}

// TestMessagesAreUsed checks that the templates and the program use every message, and no other.
func TestMessagesAreUsed(t *testing.T) {
	// messages whose keys the program puts together, or which package messages uses itself
	used := map[string]bool{"direction": true, "months": true, "date": true, "milliseconds": true, "seconds": true}
	for _, key := range slices.Concat(facetNames, boxTexts, []string{
		"after", "before", "as of", "page view", "text view", "no copy", "not found", "forbidden", "unavailable", "bad request", "failed", "grade 0", "grade 1", "grade 2", "grade 3",
	}) {
		used[key] = true
	}
	for _, name := range []string{"pages.html", "results.html", "copy.html", "judge.html"} {
		for _, match := range regexp.MustCompile(`\bsay "([^"]+)"`).FindAllStringSubmatch(string(file(name)), -1) {
			used[match[1]] = true
		}
	}
	if diff := cmp.Diff(messages.For(nil).Keys(), slices.Sorted(maps.Keys(used))); diff != "" {
		t.Errorf("messages (-in the catalogue +used):\n%s", diff)
	}
}

// TestFilters follows the links of facets and chips.
func TestFilters(t *testing.T) {
	h := newLibrary(t)
	page := parsed(t, querytest.Ask(h, "GET", "/search?q=stork&n=5").Body.String())
	var names []string
	links := make(map[string]string)
	page.Find(".facets h2").Each(func(_ int, s *goquery.Selection) { names = append(names, s.Text()) })
	page.Find(".facets a").Each(func(_ int, a *goquery.Selection) { links[a.Text()] = a.AttrOr("href", "") })
	if diff := cmp.Diff([]string{"Site", "Language", "Type"}, names); diff != "" { // there is no collection
		t.Errorf("facets (-want +got):\n%s", diff)
	}
	want := map[string]string{
		"example.org 2": "/search?n=5&q=stork&site=example.org", "example.com 1": "/search?n=5&q=stork&site=example.com",
		"English 2": "/search?lang=en&n=5&q=stork", "German 1": "/search?lang=de&n=5&q=stork",
		"HTML 2": "/search?n=5&q=stork&type=text%2Fhtml", "PDF 1": "/search?n=5&q=stork&type=application%2Fpdf",
	}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	page = parsed(t, querytest.Ask(h, "GET", links["German 1"]).Body.String())
	chips := page.Find(".chips a")
	if chips.Length() != 1 || chips.Text() != "Language: German ×" || chips.AttrOr("href", "") != "/search?n=5&q=stork" || page.Find(".hits > li").Length() != 1 {
		t.Errorf("filtered: %s", page.Find("main").Text())
	}
	if page.Find("form input[name=lang]").AttrOr("value", "") != "de" {
		t.Error("the next query forgets the filter")
	}
	if page.Find(".facets a").Length() > 0 {
		t.Errorf("a facet of one value is shown: %s", page.Find(".facets").Text())
	}
	page = parsed(t, querytest.Ask(h, "GET", "/search?q=stork+site:example.org").Body.String())
	if text := page.Find(".facets").Text(); strings.Contains(text, "Site") || !strings.Contains(text, "Language") {
		t.Errorf("beside a filter in the words: %s", text)
	}
	page = parsed(t, querytest.Ask(h, "GET", "/search?q=stork&before=2027-01-31&asof=2026-11-22").Body.String())
	if got := page.Find(".chips").Text(); !strings.Contains(got, "Before 31 January 2027") || !strings.Contains(got, "As of 22 November 2026") {
		t.Errorf("times: %s", got)
	}
}

// TestYears follows the links of the facet of years. The chosen year must become a period in the address, and one
// removable filter on the page.
func TestYears(t *testing.T) {
	s := newStore(t, 1)
	for i, date := range []string{"2024-12-31", "2025-01-01", "2025-06-30", "2025-12-31", ""} {
		page := querytest.Page{URL: fmt.Sprint("https://example.org/", i), MIME: "text/html", Title: fmt.Sprint("Page ", i), Body: "A stork.", Lang: "en"}
		page.Date, _ = time.Parse(time.DateOnly, date)
		s.Publish(page)
	}
	h := Handler(Site{Engine: s.engine(s.Bucket)})
	years := func(target string) (heading string, links map[string]string) {
		links = make(map[string]string)
		page := parsed(t, querytest.Ask(h, "GET", target).Body.String())
		page.Find(".facets a").Each(func(_ int, a *goquery.Selection) { links[a.Text()] = a.AttrOr("href", "") })
		return page.Find(".facets h2").Text(), links
	}
	name, links := years("/search?q=stork")
	want := map[string]string{"2025 3": "/search?after=2025-01-01&before=2026-01-01&q=stork", "2024 1": "/search?after=2024-01-01&before=2025-01-01&q=stork"}
	if diff := cmp.Diff(want, links); diff != "" || name != "Year" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
	page := parsed(t, querytest.Ask(h, "GET", links["2025 3"]).Body.String())
	if chips := page.Find(".chips a"); chips.Length() != 1 || chips.Text() != "Year: 2025 ×" || chips.AttrOr("href", "") != "/search?q=stork" {
		t.Errorf("chips: %s", chips.Text())
	}
	if page.Find(".hits > li").Length() != 3 || page.Find(".facets a").Length() > 0 {
		t.Errorf("of 2025: %s", page.Find("main").Text())
	}
	_, links = years("/search?q=stork&after=2024-12-30T01:00:00Z&before=2025-07-01")
	want = map[string]string{"2025 2": "/search?after=2025-01-01&before=2025-07-01&q=stork", "2024 1": "/search?after=2024-12-30T01%3A00%3A00Z&before=2025-01-01&q=stork"}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("within a period (-want +got):\n%s", diff)
	}
	page = parsed(t, querytest.Ask(h, "GET", "/search?q=stork&after=2025-01-01&before=2027-01-01").Body.String())
	if got := page.Find(".chips a").Length(); got != 2 {
		t.Errorf("two years are %d chips", got)
	}
}

// TestNothingFound checks what a page without results offers.
func TestNothingFound(t *testing.T) {
	h := newLibrary(t)
	page := parsed(t, querytest.Ask(h, "GET", "/search?"+url.Values{"q": {`absent "not here"`}, "lang": {"de"}}.Encode()).Body.String())
	tries := make(map[string]string)
	page.Find(".tries a").Each(func(_ int, a *goquery.Selection) { tries[a.Text()] = a.AttrOr("href", "") })
	want := map[string]string{
		"absent": "/search?lang=de&q=absent", `"not here"`: "/search?lang=de&q=%22not+here%22", "Without filters": "/search?q=absent+%22not+here%22",
	}
	if diff := cmp.Diff(want, tries); diff != "" {
		t.Errorf("tries (-want +got):\n%s", diff)
	}
	if text := page.Find("main").Text(); !strings.Contains(text, "Search 15 pages") || !strings.Contains(text, "3 sites · 2 languages") {
		t.Errorf("what is searched: %s", text)
	}
	example := page.Find(".examples a").First().AttrOr("href", "")
	if w := querytest.Ask(h, "GET", example); !strings.Contains(w.Body.String(), `class="hits"`) {
		t.Errorf("the example %s finds nothing", example)
	}
	s := newStore(t, 1)
	empty := parsed(t, querytest.Ask(Handler(Site{Engine: s.engine(s.Bucket)}), "GET", "/").Body.String())
	if got := empty.Find("h1").Text(); got != "There are no pages in the index yet" {
		t.Errorf("an empty index: %s", got)
	}
}

// TestScript checks that the script is small, and that the box names the path of suggestions.
func TestScript(t *testing.T) {
	if size := len(file("pages.js")); size > 12<<10 {
		t.Errorf("the script has %d bytes, more than 12 KiB", size)
	}
	h := newLibrary(t)
	page := parsed(t, querytest.Ask(h, "GET", "/").Body.String())
	w := querytest.Ask(h, "GET", page.Find("script").AttrOr("src", ""))
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("script: %d %v", w.Code, w.Header())
	}
	if got := page.Find("#q").AttrOr("data-suggest", ""); got != "/suggest" {
		t.Errorf("suggestions come from %q", got)
	}
}
