package web

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/command/eval"
	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

const (
	annKey    = "0123456789abcdef"
	bobKey    = "fedcba9876543210"
	storkPage = "https://example.org/stork"
	birdsPage = "https://example.com/birds"
	whiteOnes = "/search?lang=en&q=white+stork"
)

// judged is a store with two pages on storks, and a handler for which ann and bob are judges.
type judged struct {
	*store
	h http.Handler
}

func newJudged(t *testing.T) *judged {
	s := newStore(t, 1)
	s.Publish(
		querytest.Page{URL: storkPage, MIME: "text/html", Title: "The stork", Body: "A white stork on the roof.", Lang: "en"},
		querytest.Page{URL: birdsPage, MIME: "text/html", Title: "Birds", Body: "Of many birds one is white: the stork.", Lang: "en"},
	)
	j := &judged{store: s}
	j.through(s.Bucket)
	return j
}

// through sets j.h to a handler that reads pages from the store, and reads and writes judgments
// through the given bucket.
func (j *judged) through(bucket blob.Bucket) {
	j.T.Helper()
	keys, err := judgment.ParseKeys("ann:" + annKey + " bob:" + bobKey)
	j.Check(err)
	j.h = Handler(Site{Engine: j.engine(j.Bucket), Judging: Judging{Keys: keys, Bucket: bucket}})
}

// post sends a form to target with further header lines, such as "Cookie: a=b".
func (j *judged) post(target string, form url.Values, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", target, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	j.h.ServeHTTP(w, r)
	return w
}

// signIn signs in the judge who has the key, and returns the header line with the judge's cookie.
func (j *judged) signIn(key string) string {
	j.T.Helper()
	w := j.post("/judge", url.Values{"key": {key}})
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || len(cookies) != 1 {
		j.T.Fatalf("signing in: %d %v", w.Code, cookies)
	}
	return "Cookie: " + cookies[0].Name + "=" + cookies[0].Value
}

// form requests the page of results at target, and fills in grades in the page's form for judges. It
// returns the form, and the address to which a browser would send it.
func (j *judged) form(target, cookie string, grades map[string]string) (string, url.Values) {
	j.T.Helper()
	page, err := goquery.NewDocumentFromReader(querytest.Ask(j.h, "GET", target, cookie).Body)
	j.Check(err)
	form := url.Values{}
	page.Find(`[form=marks]`).Each(func(_ int, field *goquery.Selection) {
		name, value := field.AttrOr("name", ""), field.AttrOr("value", "")
		if goquery.NodeName(field) == "select" {
			value = field.Find("option[selected]").AttrOr("value", "")
		}
		form.Add(name, value)
	})
	for i, address := range form["url"] {
		if grade, found := grades[address]; found {
			form["grade"][i] = grade
		}
	}
	return page.Find("form#marks").AttrOr("action", ""), form
}

// mark grades results as a judge does in a browser: it requests a page of results with the judge's
// cookie, sets the grades in the page's form, and sends the form. The parameter target is the
// address of the page of results. The map grades has the address of each graded result as its key.
func (j *judged) mark(target, cookie string, grades map[string]string) {
	j.T.Helper()
	action, form := j.form(target, cookie, grades)
	w := j.post(action, form, cookie, "Sec-Fetch-Site: same-origin")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != target {
		j.T.Fatalf("marking: %d %s to %s", w.Code, w.Body, w.Header().Get("Location"))
	}
	j.Clock.Advance(time.Second)
}

// grades returns the present grade of each page, by its address, for the query "white stork" in
// English.
func (j *judged) grades() map[string]int {
	j.T.Helper()
	found, unread, err := judgment.Of(j.T.Context(), j.Bucket, judgment.Query{Text: "white stork", Lang: []string{"en"}}, &takedown.Set{})
	if err != nil || len(unread) > 0 {
		j.T.Fatal(err, unread)
	}
	return found.Grades()
}

func TestJudge(t *testing.T) {
	j := newJudged(t)
	ann := j.signIn(annKey)
	page := querytest.Ask(j.h, "GET", whiteOnes, ann)
	if page.Header().Get("Cache-Control") != "no-store" || !strings.Contains(page.Body.String(), "0 of 2 judged by ann") ||
		page.Header().Get("Content-Security-Policy") != ownPolicy || strings.Count(page.Body.String(), "<script") != 1 {
		t.Errorf("%v\n%s", page.Header(), page.Body)
	}
	j.mark(whiteOnes, ann, map[string]string{storkPage: "3", birdsPage: "0"})
	if diff := cmp.Diff(map[string]int{storkPage: 3, birdsPage: 0}, j.grades()); diff != "" {
		t.Errorf("grades (-want +got):\n%s", diff)
	}
	if shown := querytest.Ask(j.h, "GET", whiteOnes, ann).Body.String(); !strings.Contains(shown, "2 of 2 judged by ann") ||
		!strings.Contains(shown, `<option value="3" selected>best answer</option>`) || !strings.Contains(shown, `<option value="0" selected>no answer</option>`) {
		t.Errorf("the marks are not shown:\n%s", shown)
	}
	// A mark that has not changed is not stored again, and one that is withdrawn does not count.
	before := len(functionstest.Keys(t, j.Bucket, layout.Judgments))
	j.mark(whiteOnes, ann, nil)
	if now := len(functionstest.Keys(t, j.Bucket, layout.Judgments)); now != before {
		t.Errorf("%d objects, %d before", now, before)
	}
	j.mark(whiteOnes, ann, map[string]string{birdsPage: ""})
	j.mark(whiteOnes, j.signIn(bobKey), map[string]string{storkPage: "2"})
	if diff := cmp.Diff(map[string]int{storkPage: 3}, j.grades()); diff != "" {
		t.Errorf("grades (-want +got):\n%s", diff)
	}
	// A query with another filter has its own judgments. Images and past states cannot be judged,
	// and nobody but a judge gets the form.
	for target, cookie := range map[string]string{
		"/search?q=white+stork&type=image": ann, "/search?q=stork&asof=2026-11-21T12:00:00Z": ann, whiteOnes: "", "/search?q=absent": ann,
	} {
		if shown := querytest.Ask(j.h, "GET", target, cookie).Body.String(); strings.Contains(shown, "marks") {
			t.Errorf("%s has a form:\n%s", target, shown)
		}
	}
	if shown := querytest.Ask(j.h, "GET", "/search?q=white+stork", ann).Body.String(); !strings.Contains(shown, "0 of 2 judged") {
		t.Errorf("another query:\n%s", shown)
	}
}

func TestSignIn(t *testing.T) {
	j := newJudged(t)
	if page := querytest.Ask(j.h, "GET", "/judge").Body.String(); !strings.Contains(page, `type="password"`) {
		t.Errorf("no form:\n%s", page)
	}
	for _, key := range []string{"", "ann", annKey + "0"} {
		if w := j.post("/judge", url.Values{"key": {key}}); w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
			t.Errorf("key %q: %d", key, w.Code)
		}
	}
	w := j.post("/judge", url.Values{"key": {annKey}}, "X-Forwarded-Proto: https", "Sec-Fetch-Site: same-origin")
	cookie := w.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || !cookie.Secure || strings.Contains(cookie.Value, annKey) || w.Header().Get("Location") != "/" {
		t.Errorf("%s to %s", cookie, w.Header().Get("Location"))
	}
	ann := "Cookie: " + cookie.Name + "=" + cookie.Value
	if page := querytest.Ask(j.h, "GET", "/judge", ann).Body.String(); !strings.Contains(page, "You judge as ann") {
		t.Errorf("signed in:\n%s", page)
	}
	if w := j.post("/judge", nil, ann); w.Code != http.StatusSeeOther || w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("signing out: %d %v", w.Code, w.Result().Cookies())
	}
	j.Clock.Advance(judgeTime)
	if shown := querytest.Ask(j.h, "GET", whiteOnes, ann).Body.String(); strings.Contains(shown, "marks") {
		t.Error("who signed in a month ago still judges")
	}
}

// TestNobodyJudges checks that a server without keys of judges has no page on which to sign in, and
// shows results without forms and marks.
func TestNobodyJudges(t *testing.T) {
	j := newJudged(t)
	ann := j.signIn(annKey)
	j.h = Handler(Site{Engine: j.engine(j.Bucket)})
	if w := querytest.Ask(j.h, "GET", "/judge"); w.Code != http.StatusNotFound {
		t.Errorf("/judge: %d", w.Code)
	}
	for _, target := range []string{"/judge", "/judgments?q=stork"} {
		if w := j.post(target, url.Values{"key": {annKey}}, ann); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", target, w.Code)
		}
	}
	if w := querytest.Ask(j.h, "GET", whiteOnes, ann); strings.Contains(w.Body.String(), "marks") || strings.Contains(w.Header().Get("Vary"), "Cookie") {
		t.Errorf("results for judges:\n%s", w.Body)
	}
}

// TestBadForms checks that nothing is stored for forms that other sites send, forms of clients that
// are not signed in, and forms with bad values.
func TestBadForms(t *testing.T) {
	j := newJudged(t)
	ann := j.signIn(annKey)
	good := url.Values{"url": {storkPage}, "grade": {"3"}, "was": {""}}
	with := func(name string, values ...string) url.Values {
		changed := maps.Clone(good)
		changed[name] = values
		return changed
	}
	for name, c := range map[string]struct {
		target string
		form   url.Values
		header []string
		status int
	}{
		"nobody":          {"/judgments?q=stork", good, nil, 403},
		"false cookie":    {"/judgments?q=stork", good, []string{"Cookie: judge=ann|99999999999|x"}, 403},
		"cross site":      {"/judgments?q=stork", good, []string{ann, "Sec-Fetch-Site: cross-site"}, 403},
		"same site":       {"/judgments?q=stork", good, []string{ann, "Sec-Fetch-Site: same-site"}, 403},
		"another origin":  {"/judgments?q=stork", good, []string{ann, "Origin: https://evil.example"}, 403},
		"hidden origin":   {"/judgments?q=stork", good, []string{ann, "Origin: null"}, 403},
		"no query":        {"/judgments", good, []string{ann}, 400},
		"bad query":       {"/judgments?q=stork&n=0", good, []string{ann}, 400},
		"no grade":        {"/judgments?q=stork", with("grade"), []string{ann}, 400},
		"grade 4":         {"/judgments?q=stork", with("grade", "4"), []string{ann}, 400},
		"grade -1":        {"/judgments?q=stork", with("grade", "-1"), []string{ann}, 400},
		"no address":      {"/judgments?q=stork", with("url", "stork"), []string{ann}, 400},
		"too large":       {"/judgments?q=stork", with("x", strings.Repeat("x", maxForm)), []string{ann}, 400},
		"same page twice": {"/judgments?q=stork", url.Values{"url": {storkPage, storkPage}, "grade": {"3", "1"}, "was": {"", ""}}, []string{ann}, 400},
	} {
		if w := j.post(c.target, c.form, c.header...); w.Code != c.status || !strings.Contains(w.Body.String(), `class="sentence"`) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := j.post("/judge", url.Values{"key": {bobKey}}, "Sec-Fetch-Site: cross-site"); w.Code != http.StatusForbidden {
		t.Errorf("signed in by another site: %d", w.Code)
	}
	if keys := functionstest.Keys(t, j.Bucket, layout.Judgments); len(keys) > 0 {
		t.Errorf("stored %v", keys)
	}
	if w := j.post("/judgments?q=stork", good, ann, "Origin: http://example.com"); w.Code != http.StatusSeeOther {
		t.Errorf("a browser that tells only its origin: %d %s", w.Code, w.Body)
	}
}

// TestJudgingFails lets the storing of judgments fail, and checks that the judge is told that nothing
// is saved, and that results are still shown.
func TestJudgingFails(t *testing.T) {
	j := newJudged(t)
	ann := j.signIn(annKey)
	action, form := j.form(whiteOnes, ann, map[string]string{storkPage: "3"})
	for _, fault := range []faultblob.Fault{faultblob.Before, faultblob.After} {
		failing := true
		j.through(faultblob.New(j.Bucket, func(c faultblob.Call) faultblob.Fault {
			if failing {
				return fault
			}
			return faultblob.None
		}))
		if w := j.post(action, form, ann); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "try again") {
			t.Errorf("%s: %d %s", fault, w.Code, w.Body)
		}
		if w := querytest.Ask(j.h, "GET", whiteOnes, ann); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), storkPage) ||
			!strings.Contains(w.Body.String(), "cannot be read at the moment") || strings.Contains(w.Body.String(), "marks") {
			t.Errorf("%s: %d %s", fault, w.Code, w.Body)
		}
		failing = false
		if w := j.post(action, form, ann); w.Code != http.StatusSeeOther {
			t.Errorf("again: %d %s", w.Code, w.Body)
		}
		if diff := cmp.Diff(map[string]int{storkPage: 3}, j.grades()); diff != "" {
			t.Errorf("grades (-want +got):\n%s", diff)
		}
	}
}

// searcher is an engine with the method Search that package eval calls to replay judgments and
// clicks.
type searcher struct{ *engine.Engine }

func (s searcher) Search(ctx context.Context, q search.Query) (search.Result, error) {
	found, err := s.Engine.Search(ctx, engine.Query{Query: q})
	return found.Result, err
}

// TestReplay judges results on the search page, and measures rankings by these judgments: the
// present ranking, and the one after a page has changed.
func TestReplay(t *testing.T) {
	j := newJudged(t)
	ann := j.signIn(annKey)
	replay := func() (eval.Report, error) {
		inForce, err := settings.Read(t.Context(), j.Bucket, j.Clock.Now())
		j.Check(err)
		return eval.RunJudged(t.Context(), j.Bucket, &inForce.Takedowns, searcher{j.engine(j.Bucket)})
	}
	j.mark("/search?q=roof", ann, map[string]string{storkPage: "0"})
	if _, err := replay(); err == nil || !strings.Contains(err.Error(), "no query of the bucket is judged") {
		t.Errorf("without an answer: %v", err)
	}
	j.mark(whiteOnes, ann, map[string]string{storkPage: "3"})
	j.mark("/search?q=birds", ann, map[string]string{birdsPage: "2"})
	before, err := replay()
	j.Check(err)
	if before.Queries != 2 || before.Unjudged != 1 || before.Figures.NDCG != 1 || before.Figures.MRR != 1 || *before.Judged != 2.0/3 || before.Unread != 0 {
		t.Errorf("first: %+v, judged %v", before, *before.Judged)
	}
	// The text of the page of birds is changed: it now has white storks more often than any other
	// page.
	j.Publish(querytest.Page{URL: birdsPage, MIME: "text/html", Title: "White stork", Body: "A white stork, a white stork, and birds.", Lang: "en"})
	after, err := replay()
	j.Check(err)
	c := after.Compare(before)
	if c.Worse != 1 || c.Same != 1 || after.Figures.MRR != 0.75 {
		t.Errorf("then: %+v, %+v", after, c)
	}
	// Judgments of a forgotten page do not count.
	a, err := address.Parse(birdsPage)
	j.Check(err)
	_, err = takedown.Forget(t.Context(), j.Bucket, takedown.URL(a, querytest.Noon))
	j.Check(err)
	if last, err := replay(); err != nil || last.Queries != 1 {
		t.Errorf("forgotten: %+v, %v", last, err)
	}
	j.Clock.Advance(time.Hour)
	if w := j.post("/judgments?q=birds", url.Values{"url": {birdsPage}, "grade": {"1"}, "was": {""}}, ann); w.Code != http.StatusSeeOther {
		t.Errorf("judging a forgotten page: %d %s", w.Code, w.Body)
	}
	inForce, err := settings.Read(t.Context(), j.Bucket, j.Clock.Now())
	j.Check(err)
	if keys, err := judgment.Forgotten(t.Context(), j.Bucket, &inForce.Takedowns); err != nil || len(keys) != 1 {
		t.Errorf("judgments of the forgotten page: %v, %v", keys, err)
	}
}
