package web

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/command/eval"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// newClicked returns a store with two pages on storks, and a handler that counts clicks. The handler
// does not draw the slot of a click at random, but takes the slots 0, 1, 2 and so on.
func newClicked(t *testing.T) *judged {
	j := newJudged(t)
	j.count(j.Bucket, &bytes.Buffer{})
	return j
}

// count sets j's handler to one that stores clicks in the given bucket and writes its log to log.
// The only judge who may sign in is ann.
func (j *judged) count(bucket blob.Bucket, log *bytes.Buffer) {
	j.T.Helper()
	key, err := judgment.ParseClickKey("a key of 16 bytes")
	j.Check(err)
	keys, err := judgment.ParseKeys("ann:" + annKey)
	j.Check(err)
	drawn := -1
	j.h = Handler(Site{
		Engine:  j.logging(j.Bucket, log),
		Clicks:  Clicks{Key: key, Bucket: bucket, Random: func(n int) int { drawn++; return drawn % n }},
		Judging: Judging{Keys: keys, Bucket: j.Bucket},
	})
}

// pings requests a page of results. For each result, it returns the address to which a browser reports
// a click on the result. The keys are the addresses of the results.
func (j *judged) pings(target string, header ...string) map[string]string {
	j.T.Helper()
	page, err := goquery.NewDocumentFromReader(querytest.Ask(j.h, "GET", target, header...).Body)
	j.Check(err)
	pings := make(map[string]string)
	page.Find("a[ping]").Each(func(_ int, link *goquery.Selection) {
		pings[link.AttrOr("href", "")] = link.AttrOr("ping", "")
	})
	return pings
}

// click reports a click the given number of times: it sends a POST request to the given address, as a
// browser does for a link with the attribute ping.
func (j *judged) click(ping string, times int) {
	j.T.Helper()
	for range times {
		if w := querytest.Ask(j.h, "POST", ping); w.Code != http.StatusNoContent || w.Body.Len() > 0 {
			j.T.Fatalf("click: %d %s", w.Code, w.Body)
		}
	}
}

func (j *judged) clicks() []string { return functionstest.Keys(j.T, j.Bucket, layout.Clicks) }

// TestClickOnSection checks that a click on the link to a section of a result counts as a click on the
// result.
func TestClickOnSection(t *testing.T) {
	j := newClicked(t)
	j.Publish(querytest.Page{
		URL: birdsPage, MIME: "text/html", Title: "Birds", Body: "Birds.\nStorks\nwhite\nWhite storks\nThey nest.", Lang: "en", Headings: []string{"Storks", "White storks"},
		Sections: []segment.Section{{Heading: 0, Start: 7, Fragment: "a"}, {Heading: 1, Start: 20, Fragment: "b"}},
	})
	pings := j.pings(whiteOnes)
	for _, fragment := range []string{"#a", "#b"} {
		if ping := pings[birdsPage+fragment]; ping == "" || ping != pings[birdsPage] {
			t.Errorf("a click on %s is reported to %q, want %q", fragment, ping, pings[birdsPage])
		}
	}
}

// TestClick reports a click as a browser does. It checks that exactly one object is stored, and
// that nothing in it tells who clicked.
func TestClick(t *testing.T) {
	j := newClicked(t)
	page := querytest.Ask(j.h, "GET", whiteOnes)
	if !strings.Contains(page.Body.String(), "Clicks on results are counted") ||
		page.Header().Get("Set-Cookie") != "" {
		t.Errorf("%v\n%s", page.Header(), page.Body)
	}
	pings := j.pings(whiteOnes)
	before := functionstest.Keys(t, j.Bucket, "")
	w := querytest.Ask(j.h, "POST", pings[birdsPage], "Content-Type: text/ping", "Ping-To: "+birdsPage, "Ping-From: http://example.com"+whiteOnes,
		"User-Agent: Browser of Eve", "X-Forwarded-For: 203.0.113.7", "Cookie: eve=1", "Accept-Language: eo")
	if w.Code != http.StatusNoContent || w.Body.Len() > 0 || len(w.Result().Cookies()) > 0 {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
	stored := j.clicks()
	if len(stored) != 1 || len(functionstest.Keys(t, j.Bucket, "")) != len(before)+1 {
		t.Fatalf("stored %v", stored)
	}
	content, err := j.Bucket.Get(t.Context(), stored[0], blob.Range{})
	want := `{"version":1,"day":"2026-11-21","query":{"text":"white stork","lang":["en"]},"url":"` + birdsPage + `","position":2}`
	if err != nil || string(content) != string(layout.Seal([]byte(want))) {
		t.Errorf("%s holds %s, %v; want %s", stored[0], content, err, want)
	}
	j.click(pings[storkPage], 3*judgment.Slots)
	if now := j.clicks(); len(now) != 1+judgment.Slots {
		t.Errorf("%d objects of %d slots", len(now), judgment.Slots)
	}
	if second := j.pings("/search?q=stork&n=1&from=1"); len(second) != 1 || !strings.Contains(second[birdsPage]+second[storkPage], url.QueryEscape(`"position":2`)) {
		t.Errorf("on the second page: %v", second)
	}
}

// TestNoClicks checks that results have no attribute ping if the server counts no clicks at all, or no
// clicks on results of this kind, such as images.
func TestNoClicks(t *testing.T) {
	j := newClicked(t)
	ann := j.signIn(annKey)
	ping := j.pings(whiteOnes)[storkPage]
	long := "/search?q=stork" + strings.Repeat("+stork", judgment.MaxClick/6)
	for target, cookie := range map[string]string{
		whiteOnes: ann, "/search?q=white+stork&type=image": "", "/search?q=stork&asof=2026-11-21T12:00:00Z": "", long: "",
	} {
		w := querytest.Ask(j.h, "GET", target, "Cookie: "+strings.TrimPrefix(cookie, "Cookie: "))
		if body := w.Body.String(); w.Code != http.StatusOK || strings.Contains(body, "ping=") || strings.Contains(body, "Clicks on results") {
			t.Errorf("%.60s: %d %v\n%s", target, w.Code, w.Header(), body)
		}
	}
	if w := querytest.Ask(j.h, "GET", ping); w.Code != http.StatusNotFound {
		t.Errorf("GET: %d", w.Code)
	}
	j.h = Handler(Site{Engine: j.engine(j.Bucket)})
	if pings := j.pings(whiteOnes); len(pings) > 0 || strings.Contains(querytest.Ask(j.h, "GET", whiteOnes).Body.String(), "Clicks") {
		t.Errorf("pings %v", pings)
	}
	if w := querytest.Ask(j.h, "POST", ping); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
	if stored := j.clicks(); len(stored) > 0 {
		t.Errorf("stored %v", stored)
	}
}

// TestForgedClicks checks that nothing is stored when clicks are reported on results that were not
// shown on this day.
func TestForgedClicks(t *testing.T) {
	j := newClicked(t)
	ping := j.pings(whiteOnes)[storkPage]
	for name, c := range map[string]struct {
		old, changed string
		status       int
	}{
		"day":        {"2026-11-21", "2026-11-22", 403},
		"query":      {"white", "black", 403},
		"filter":     {url.QueryEscape(`"en"`), url.QueryEscape(`"de"`), 403},
		"page":       {"stork%22%2C%22pos", "heron%22%2C%22pos", 403},
		"position":   {"%3A1%7D", "%3A2%7D", 403},
		"signature":  {"signature=", "signature=x", 403},
		"unsigned":   {"signature", "sign", 403},
		"nothing":    {"shown", "show", 403},
		"too long":   {"white", strings.Repeat("white", 500), 400},
		"no address": {"%22", "%2", 400},
	} {
		forged := strings.Replace(ping, c.old, c.changed, 1)
		if w := querytest.Ask(j.h, "POST", forged); forged == ping || w.Code != c.status || !strings.Contains(w.Body.String(), `class="sentence"`) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	j.Clock.Advance(12*time.Hour - 1)
	j.click(ping, 1)
	j.Clock.Advance(1)
	if w := querytest.Ask(j.h, "POST", ping); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "another day") {
		t.Errorf("a day later: %d %s", w.Code, w.Body)
	}
	if stored := j.clicks(); len(stored) != 1 {
		t.Errorf("stored %v", stored)
	}
}

// TestClickFails lets the storing of clicks fail, and checks that the answer says so, and that the log
// does not tell what was clicked.
func TestClickFails(t *testing.T) {
	j := newClicked(t)
	ping := j.pings(whiteOnes)[storkPage]
	for _, fault := range []faultblob.Fault{faultblob.Before, faultblob.After} {
		var log bytes.Buffer
		j.count(faultblob.New(j.Bucket, func(faultblob.Call) faultblob.Fault { return fault }), &log)
		if w := querytest.Ask(j.h, "POST", ping); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "try again") {
			t.Errorf("%s: %d %s", fault, w.Code, w.Body)
		}
		if !strings.Contains(log.String(), "cannot store a click") || strings.Contains(log.String(), "stork") {
			t.Errorf("%s: log %s", fault, &log)
		}
	}
	j.count(j.Bucket, &bytes.Buffer{})
	j.click(ping, 1)
	if stored := j.clicks(); len(stored) != 1 {
		t.Errorf("stored %v", stored)
	}
}

// TestClicksOfOneDay checks that a process stores a limited number of clicks in a day, and logs once
// that it stores no more.
func TestClicksOfOneDay(t *testing.T) {
	j := newClicked(t)
	var log bytes.Buffer
	j.count(j.Bucket, &log)
	ping := j.pings(whiteOnes)[storkPage]
	j.click(ping, dailyClicks)
	for range 3 {
		if w := querytest.Ask(j.h, "POST", ping); w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "No more clicks are counted today") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if told := strings.Count(log.String(), "no more clicks of this day"); told != 1 {
		t.Errorf("told %d times: %s", told, &log)
	}
	j.Clock.Advance(24 * time.Hour)
	j.click(j.pings(whiteOnes)[storkPage], 1)
}

// TestReplayClicks measures rankings by clicks: the present ranking, and the one after a page has
// changed. It checks that clicks on a page that a takedown covers do not count, and that further
// clicks on this page are not stored.
func TestReplayClicks(t *testing.T) {
	j := newClicked(t)
	replay := func() (eval.Report, error) {
		inForce, err := j.engine(j.Bucket).Settings.Get(t.Context())
		j.Check(err)
		return eval.RunClicked(t.Context(), j.Bucket, &inForce.Takedowns, searcher{j.engine(j.Bucket)})
	}
	j.click(j.pings("/search?q=roof")[storkPage], judgment.LeastClicks-1)
	if _, err := replay(); err != eval.ErrUnclicked {
		t.Errorf("with few clicks: %v", err)
	}
	pings := j.pings(whiteOnes)
	j.click(pings[storkPage], 3)
	j.click(pings[birdsPage], 9)
	before, err := replay()
	j.Check(err)
	if before.Queries != 1 || before.FewClicks != 1 || before.Figures.MAP != 1 || *before.Judged != 1 || before.Figures.NDCG > .9 || before.Unread != 0 {
		t.Errorf("first: %+v, judged %v", before, *before.Judged)
	}
	// The page of birds, which readers preferred to the one above, comes to the top.
	j.Publish(querytest.Page{URL: birdsPage, MIME: "text/html", Title: "White stork", Body: "A white stork, a white stork, and birds.", Lang: "en"})
	after, err := replay()
	j.Check(err)
	if c := after.Compare(before); c.Better != 1 || after.Figures.NDCG != 1 {
		t.Errorf("then: %+v, %+v", after, c)
	}
	_, err = takedown.Forget(t.Context(), j.Bucket, takedown.URL(j.Address(birdsPage), querytest.Noon))
	j.Check(err)
	if last, err := replay(); err != nil || last.Figures.NDCG != 1 || *last.Judged != 1 {
		t.Errorf("forgotten: %+v, %v", last, err)
	}
	stored := j.clicks()
	j.Clock.Advance(time.Hour)
	j.click(pings[birdsPage], 1)
	if diff := cmp.Diff(stored, j.clicks()); diff != "" {
		t.Errorf("a click on a forgotten page (-want +got):\n%s", diff)
	}
}
