package query

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// parse parses an HTML page with which the query function has answered.
func parse(t *testing.T, body string) *goquery.Document {
	t.Helper()
	document, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func texts(s *goquery.Selection) []string {
	return s.Map(func(_ int, s *goquery.Selection) string { return s.Text() })
}

func TestJSON(t *testing.T) {
	s := newStore(t, 3)
	s.Publish(
		querytest.Page{URL: "https://example.org/vacuum", MIME: "text/html", Title: "Vacuum <b>", Body: "It cleans & tidies a table.", Lang: "en"},
		querytest.Page{URL: "https://example.com/", MIME: "text/html", Title: "Elsewhere", Body: "Nothing of interest."},
	)
	w := querytest.AskJSON(s.serve(), "/search?q=table")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Vary") != "Accept, Accept-Language" {
		t.Fatalf("status %d, header %v", w.Code, w.Header())
	}
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	results, _ := got["results"].([]any)
	if len(results) != 1 {
		t.Fatalf("results %v", got["results"])
	}
	score, _ := results[0].(map[string]any)["score"].(float64)
	if score <= 0 {
		t.Errorf("score %v", score)
	}
	want := map[string]any{
		"query": map[string]any{"text": "table", "from": 0.0, "n": 10.0}, "total": 1.0, "total_exact": true, "took_ms": 0.0,
		"results": []any{map[string]any{
			"url": "https://example.org/vacuum", "title": "Vacuum <b>", "snippet": "It cleans & tidies a table.",
			"score": score, "lang": "en", "type": "text/html", "fetched": "2026-11-21T12:00:01Z",
			"marks": map[string]any{"title": []any{}, "snippet": []any{[]any{21.0, 26.0}}},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if w := querytest.AskJSON(s.serve(), "/search?q=absent"); w.Body.String() != `{"query":{"text":"absent","from":0,"n":10},"total":0,"total_exact":true,"took_ms":0,"results":[]}`+"\n" {
		t.Errorf("nothing found: %s", w.Body)
	}
}

// TestDates checks that a result shows the page's own date if that is known, and does not show the day of
// the fetch instead if not.
func TestDates(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(
		querytest.Page{URL: "https://example.org/a", MIME: "text/html", Title: "A", Body: "table table", Date: time.Date(2024, 10, 3, 0, 0, 0, 0, time.UTC)},
		querytest.Page{URL: "https://example.org/b", MIME: "text/html", Title: "B", Body: "The other table is here."},
	)
	h := s.serve()
	var got engine.Answer
	if err := json.Unmarshal(querytest.AskJSON(h, "/search?q=table").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Results) != 2 || got.Results[0].Date != "2024-10-03" || got.Results[1].Date != "" {
		t.Errorf("results %+v", got.Results)
	}
	document := parse(t, querytest.Ask(h, "GET", "/search?q=table").Body.String())
	if times := document.Find("time"); times.Length() != 1 || times.AttrOr("datetime", "") != "2024-10-03" || times.Text() != "3 October 2024" {
		t.Errorf("dates %v", texts(times))
	}
	if title := document.Find(".more a").AttrOr("title", ""); title != "fetched on 21 November 2026" {
		t.Errorf("the link to the copy says %q", title)
	}
}

// TestSections checks that a result has a link to the section of its snippet, and links to other sections
// whose headings have words of the query.
func TestSections(t *testing.T) {
	s := newStore(t, 1)
	body := "Of tables.\nOne pool\nIt is here.\nTwo pools\nThey are there.\nThe end"
	var sections []segment.Section
	headings := []string{"One pool", "Two <b>pools", "The end"}
	for i, begins := range []string{"One", "Two", "The end"} {
		sections = append(sections, segment.Section{Heading: i, Start: strings.Index(body, begins), Fragment: fmt.Sprintf("s %d", i)})
	}
	s.Publish(querytest.Page{URL: "https://example.org/a", MIME: "text/html", Title: "A", Body: body, Lang: "en", Headings: headings, Sections: sections})
	h := s.serve()
	for query, want := range map[string]engine.Snippet{
		"pool": {
			Section:  &engine.Section{Heading: "One pool", URL: "https://example.org/a#s%200"},
			Sections: []engine.Section{{Heading: "Two <b>pools", URL: "https://example.org/a#s%201"}},
		},
		"end":   {Section: &engine.Section{Heading: "The end", URL: "https://example.org/a#s%202"}},
		"table": {},
	} {
		var got engine.Answer
		if err := json.Unmarshal(querytest.AskJSON(h, "/search?q="+query).Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, engine.Snippet{Section: got.Results[0].Section, Sections: got.Results[0].Sections}); diff != "" {
			t.Errorf("%s: sections (-want +got):\n%s", query, diff)
		}
		var wanted, links []string
		if want.Section != nil {
			wanted = append(wanted, want.Section.URL+" › "+want.Section.Heading)
		}
		for _, s := range want.Sections {
			wanted = append(wanted, s.URL+" › "+s.Heading)
		}
		parse(t, querytest.Ask(h, "GET", "/search?q="+query).Body.String()).Find(".section a").Each(func(_ int, link *goquery.Selection) {
			links = append(links, link.AttrOr("href", "")+" "+link.Text())
		})
		if diff := cmp.Diff(wanted, links); diff != "" {
			t.Errorf("%s: links (-want +got):\n%s", query, diff)
		}
	}
}

// TestDidYouMean checks the correction of a mistyped query: it is in the JSON, and on the page of results it
// is a link that keeps the other parameters of the request.
func TestDidYouMean(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(
		querytest.Page{URL: "https://example.org/1", MIME: "text/html", Title: "Vacuum", Body: "It tidies a table.", Lang: "en"},
		querytest.Page{URL: "https://example.org/2", MIME: "text/html", Title: "Vacuum <b>", Body: "It tidies more.", Lang: "en"},
	)
	h := s.serve()
	if w := querytest.AskJSON(h, "/search?q=%2Bvacum+-table"); !strings.Contains(w.Body.String(), `"did_you_mean":{"query":"+vacuum -table","total":1,"total_exact":true}`) {
		t.Errorf("JSON: %s", w.Body)
	}
	if w := querytest.AskJSON(h, "/search?q=vacuum"); strings.Contains(w.Body.String(), "did_you_mean") {
		t.Errorf("a right query: %s", w.Body)
	}
	meant := parse(t, querytest.Ask(h, "GET", "/search?q=%3Cb%3E+vacum&lang=en").Body.String()).Find(".meant")
	if got := meant.Text(); got != "Did you mean <b> vacuum (2)" {
		t.Errorf("the page says %q", got)
	}
	if got := texts(meant.Find("mark")); !cmp.Equal(got, []string{"vacuum"}) {
		t.Errorf("marked %q", got)
	}
	if got := meant.Find("a").AttrOr("href", ""); got != "/search?lang=en&q=%3Cb%3E+vacuum" {
		t.Errorf("it leads to %s", got)
	}
}

func TestPaging(t *testing.T) {
	s := newStore(t, 7)
	s.Publish(querytest.Manual(25)...)
	h := s.serve()
	seen := map[string]bool{}
	next, pages := "/search?q=manual", 0
	for ; next != ""; pages++ {
		w := querytest.Ask(h, "GET", next)
		document := parse(t, w.Body.String())
		document.Find("h2 a").Each(func(_ int, link *goquery.Selection) { seen[link.AttrOr("href", "")] = true })
		if first := document.Find("ol").AttrOr("start", ""); first != fmt.Sprint(10*pages+1) {
			t.Errorf("page %d begins with number %s", pages+1, first)
		}
		if current := document.Find("[aria-current]").Text(); current != fmt.Sprint(pages+1) {
			t.Errorf("page %d says that it is page %q", pages+1, current)
		}
		if got := texts(document.Find("nav .number")); !cmp.Equal(got, []string{"1", "2", "3"}) {
			t.Errorf("page %d leads to %v", pages+1, got)
		}
		if total := document.Find(".total").Text(); total != "25 pages in 0.0 ms" {
			t.Errorf("page %d counts %q", pages+1, total)
		}
		next = document.Find("a[rel=next]").AttrOr("href", "")
	}
	if pages != 3 || len(seen) != 25 {
		t.Errorf("%d different results on %d pages, want 25 on 3", len(seen), pages)
	}
	document := parse(t, querytest.Ask(h, "GET", "/search?q=manual&n=5&from=500").Body.String())
	if back := document.Find("a[rel=prev]").AttrOr("href", ""); back != "/search?from=20&n=5&q=manual" || !strings.Contains(document.Text(), "no results so far down") {
		t.Errorf("behind the end: back to %q, %s", back, document.Find("main").Text())
	}
}

func TestWrongRequests(t *testing.T) {
	h := newStore(t, 1).serve()
	for _, test := range []struct {
		target string
		status int
		want   string
	}{
		{"/search?q=a&n=0", 400, `n is "0"; write a whole number from 1 to 100.`},
		{"/search?q=a&n=101", 400, `n is "101"; write`},
		{"/search?q=a&n=ten", 400, `n is "ten"; write`},
		{"/search?q=a&from=-1", 400, `from is "-1"; write a whole number from 0 to 9990.`},
		{"/search?q=a&n=100&from=9901", 400, `from is "9901"; write`},
		{"/search?q=a&timeout=5s", 400, `timeout is "5s"; write a whole number from 1 to 60000.`},
		{"/search?q=a&after=yesterday", 400, `after is "yesterday"; write a date such as 2026-11-21 or a time such as 2026-11-21T09:30:00Z.`},
		{"/search?q=a&order=date", 400, `There is no parameter "order"; there are q, n, from,`},
		{"/search?q=a&explain=all", 400, `explain is "all"; write score or cost.`},
		{"/search?q=100%", 400, "a percent sign is written %25"},
		{"/page", 400, "ask like /page?url=https://example.org/."},
		{"/page?url=file:///etc/passwd", 400, `"file:///etc/passwd" is no web address; write it like https://example.org/.`},
		{"/page?url=https://example.org/a%20b", 404, "No copy of https://example.org/a%20b is stored."},
		{"/nowhere", 404, "There is no page at this address."},
	} {
		w := querytest.AskJSON(h, test.target)
		var got struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != test.status || !strings.Contains(got.Error, test.want) {
			t.Errorf("%.60s: %d %s, want %d %s", test.target, w.Code, w.Body, test.status, test.want)
		}
		w = querytest.Ask(h, "GET", test.target)
		if got := parse(t, w.Body.String()).Find(".sentence").Text(); w.Code != test.status || !strings.Contains(got, test.want) {
			t.Errorf("%.60s as HTML: %d %q, want %d %s", test.target, w.Code, got, test.status, test.want)
		}
	}
	if w := querytest.Ask(h, "POST", "/search?q=a"); w.Code != http.StatusMethodNotAllowed || !strings.Contains(w.Body.String(), "ask by GET") {
		t.Errorf("POST: %d %s", w.Code, w.Body)
	}
	for _, text := range []string{strings.Repeat("a", 4097), "before:christ", "-after:2020", "%22open", "%ED%A0%80"} { // what a person types is answered
		if w := querytest.AskJSON(h, "/search?q="+text); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"notes":[`) {
			t.Errorf("%.40s: %d %s", text, w.Code, w.Body)
		}
	}
	if w := querytest.AskJSON(h, "/search?q=+"); w.Code != http.StatusBadRequest {
		t.Errorf("JSON of no query: %d %s", w.Code, w.Body)
	}
	if w := querytest.Ask(h, "GET", "/search?q=+"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" {
		t.Errorf("no query: %d to %q", w.Code, w.Header().Get("Location"))
	}
	if w := querytest.Ask(h, "POST", "/search?q=a"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// TestHostileTexts checks that markup in pages and queries is shown as text everywhere.
func TestHostileTexts(t *testing.T) {
	const attack = `"'><script>alert(1)</script><img src=x onerror=alert(2)>{{.}}`
	s := newStore(t, 1)
	s.Publish(querytest.Page{
		URL: "https://example.org/?a=%3Cscript%3E&b=javascript:alert(3)", MIME: "text/html", Data: attack,
		Title: "evil " + attack, Body: "evil " + attack, Lang: `en" onclick="alert(4)`,
	})
	w := querytest.Ask(s.serve(), "GET", "/search?n=7&q="+url.QueryEscape("evil "+attack))
	document := parse(t, w.Body.String())
	if found := document.Find("body script, img, [onerror], [onclick], a[href^=javascript]"); found.Length() > 0 {
		t.Errorf("the page holds %d elements of others:\n%s", found.Length(), w.Body)
	}
	for _, where := range []string{".hits h2", ".snippet"} {
		if got := document.Find(where).Text(); got != "evil "+attack {
			t.Errorf("%s shows %q", where, got)
		}
	}
	if got := document.Find("input[name=q]").AttrOr("value", ""); got != "evil "+attack {
		t.Errorf("the box holds %q", got)
	}
	if got := document.Find("title").Text(); got != "evil "+attack+" – Bucketsearch" {
		t.Errorf("the title is %q", got)
	}
	if got := document.Find("input[name=n]").AttrOr("value", ""); got != "7" {
		t.Errorf("the form forgets n: %q", got)
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "script-src 'self';") {
		t.Errorf("policy %q", policy)
	}
}

func TestResultsPage(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(
		querytest.Page{URL: "https://ar.example.org/%D9%81%D8%B1%D8%A7%D8%BA/", MIME: "text/html", Title: "Vacuum فراغ", Body: "كلمة vacuum هنا.", Lang: "ar"},
		querytest.Page{URL: "https://example.org/untitled?x=1", MIME: "text/plain", Body: "The vacuum has no title."},
	)
	w := querytest.Ask(s.serve(), "GET", "/search?q=VACUUM")
	document := parse(t, w.Body.String())
	hit := document.Find("li").FilterFunction(func(_ int, li *goquery.Selection) bool {
		return li.Find("h2[lang=ar][dir=auto]").Length() == 1
	})
	if got := texts(hit.Find("mark")); !cmp.Equal(got, []string{"Vacuum", "vacuum"}) {
		t.Errorf("marked %v", got)
	}
	if got := texts(hit.Find(".address bdi")); !cmp.Equal(got, []string{"ar.example.org", "فراغ"}) {
		t.Errorf("address %v", got)
	}
	if got := document.Find(".hits h2").Not("[lang]").Text(); got != "https://example.org/untitled?x=1" {
		t.Errorf("a page without a title is called %q", got)
	}
	document.Find(".more a").Each(func(_ int, link *goquery.Selection) {
		if w := querytest.Ask(s.serve(), "GET", link.AttrOr("href", "")); w.Code != http.StatusOK {
			t.Errorf("stored copy at %s: %d", link.AttrOr("href", ""), w.Code)
		}
	})
	style := document.Find("link[rel=stylesheet]").AttrOr("href", "")
	if w := querytest.Ask(s.serve(), "GET", style); w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") || w.Body.Len() == 0 {
		t.Errorf("style sheet %s: %d %v", style, w.Code, w.Header())
	}
	if none := querytest.Ask(s.serve(), "GET", "/search?q=qwertz").Body.String(); !strings.Contains(none, "No page matches") || !strings.Contains(none, "must not occur") {
		t.Errorf("no match:\n%s", none)
	}
	if home := querytest.Ask(s.serve(), "GET", "/"); parse(t, home.Body.String()).Find("form[role=search] input[name=q]").Length() != 1 {
		t.Errorf("home:\n%s", home.Body)
	}
}

// TestAlike checks that only one of several pages with the same text is a result, unless the query
// asks for all of them.
func TestAlike(t *testing.T) {
	body := strings.Repeat("The same words stand on both of these pages. ", 9)
	s := newStore(t, 1)
	s.Publish(
		querytest.Page{URL: "https://example.org/one", MIME: "text/html", Data: "x", Title: "One", Body: body, Lang: "en"},
		querytest.Page{URL: "https://example.org/another", MIME: "text/html", Data: "x", Title: "Two", Body: body, Lang: "en"},
	)
	h := s.handler(s.Bucket, io.Discard)
	for q, want := range map[string][]string{"words": {"https://example.org/another"}, "words+dup:all": nil} {
		var answer engine.Answer
		w := querytest.AskJSON(h, "/search?q="+q)
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err, w.Body)
		}
		if answer.Total != 2 || len(answer.Results) != 2-len(want) || !slices.Equal(answer.Results[0].Alike, want) {
			t.Errorf("%s: %+v", q, answer)
		}
	}
	if page := querytest.Ask(h, "GET", "/search?q=words").Body.String(); !strings.Contains(page, `<a href="/search?q=words&#43;dup%3Aall">1 alike</a>`) && !strings.Contains(page, `<a href="/search?q=words+dup%3Aall">1 alike</a>`) {
		t.Errorf("no link to alike pages in %s", page)
	}
}

// TestOutside checks that a page is found by words outside of its main part. A page with the same
// words in its main part must come before it.
func TestOutside(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(
		querytest.Page{URL: "https://example.org/margin", MIME: "text/html", Data: "x", Title: "One", Body: "some text of the page", Outside: "written by a stork", Lang: "en"},
		querytest.Page{URL: "https://example.org/main", MIME: "text/html", Data: "x", Title: "Two", Body: "a long text of the page tells of many birds, and of a stork too", Outside: "stork", Lang: "en"},
	)
	var answer engine.Answer
	if err := json.Unmarshal(querytest.AskJSON(s.handler(s.Bucket, io.Discard), "/search?q=stork").Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Total != 2 || !answer.TotalExact || len(answer.Results) != 2 || answer.Results[0].URL != "https://example.org/main" {
		t.Errorf("%+v", answer)
	}
}
