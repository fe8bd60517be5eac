package tests

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/tests/browser"
)

// TestTyping uses the search page as a person does, with its script and without it.
func TestTyping(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, func(int, []string) http.Handler { return storks() })
	run := newPlace(t).start("up", crawling("--listen", "127.0.0.1:0", s.origins[0]+"/docs/")...)
	home := run.searchPage(t)
	run.await(t, func() bool { return strings.Contains(get(t, home+"search?q=black+stork"), "black.html") })
	front := newSlowFront(t, home)
	page := browser.Open(t, 1000, 800)
	for _, c := range []struct {
		name string
		use  func(*testing.T, *browser.Tab, *slowFront)
	}{
		{"results while typing", showsResults}, {"address", sharesAddress}, {"history", goesBack}, {"quick Enter", sendsAtOnce},
		{"slash and arrows", movesByKeys}, {"suggestions", takesSuggestion}, {"Escape", leavesSuggestions},
		{"older answer", ignoresOlderAnswer}, {"query taken back", ignoresDroppedAnswer}, {"focus in old results", keepsFocus},
		{"without script", worksWithoutScript},
	} {
		t.Run(c.name, func(t *testing.T) {
			page.Go(front.url)
			page.Await(pageFocused)
			c.use(t, page, front)
		})
	}
}

// JavaScript expressions for parts of the search page.
const (
	pageBox     = "document.getElementById('q')"
	pageFocused = "document.activeElement === " + pageBox
	pageList    = "document.getElementById('suggestions')" // of suggestions
	pageLinks   = "document.querySelectorAll('.hits h2 a')"
	hasStorks   = pageLinks + "[0]?.textContent.includes('storks')"
)

// displays returns an expression that is true if the page shows the results of a query, and nothing of another one.
func displays(query string) string {
	address := "?q=" + url.QueryEscape(query)
	return fmt.Sprintf("location.search === %q && document.title.startsWith('%s – ') && %s.value === %q && document.querySelector('main .total') !== null",
		address, query, pageBox, query)
}

// equal checks the values of JavaScript expressions.
func equal(t *testing.T, page *browser.Tab, want map[string]string) {
	t.Helper()
	for expression, value := range want {
		if got := page.Evaluate(expression); got != value {
			t.Errorf("%s is %q, want %q", expression, got, value)
		}
	}
}

func showsResults(t *testing.T, page *browser.Tab, _ *slowFront) {
	for _, key := range "black stork" {
		page.Press(string(key))
	}
	page.Await(displays("black stork"))
	equal(t, page, map[string]string{
		pageLinks + "[0].textContent":                    "Black storks",
		pageLinks + "[0].querySelector('mark') !== null": "true",
		pageFocused:               "true",
		"document.body.className": "",
		// Links are large enough to be touched (WCAG 2.2, success criterion 2.5.8).
		"Array.from(document.querySelectorAll('.hits a')).every(a => a.getBoundingClientRect().height >= 24)": "true",
		"document.getElementById('said').textContent.split(' ').slice(0, 2).join(' ')":                        "3 pages",
	})
	page.Press("s")
	page.Await(displays("black storks"))
}

func sharesAddress(t *testing.T, page *browser.Tab, _ *slowFront) {
	page.Write("white frogs")
	page.Await(displays("white frogs"))
	shown := page.Evaluate("document.querySelector('.hits').textContent")
	page.Evaluate("document.documentElement.dataset.old = true")
	page.Call("Page.reload", nil, nil)
	page.Await("!document.documentElement.dataset.old && " + displays("white frogs"))
	equal(t, page, map[string]string{"document.querySelector('.hits').textContent": shown})
}

// goesBack checks which addresses become steps of the browser's history: the page before typing, each query that
// was sent, and the last query that was only typed.
func goesBack(t *testing.T, page *browser.Tab, _ *slowFront) {
	page.Write("black")
	page.Await(displays("black"))
	page.Write(" storks")
	page.Await(displays("black storks"))
	page.Press("Enter") // the same query again is no step
	page.Await(pageList + "?.hidden && " + displays("black storks"))
	page.Write(" forests")
	page.Await(displays("black storks forests"))
	page.Evaluate("history.back()")
	page.Await(displays("black storks"))
	page.Evaluate("history.back()")
	page.Await("location.pathname === '/' && document.body.className === 'home' && " + pageBox + ".value === ''")
	page.Evaluate("history.forward()")
	page.Await(displays("black storks"))
}

// sendsAtOnce sends a query by Enter, before its suggestions can have come. They must not come later.
func sendsAtOnce(t *testing.T, page *browser.Tab, front *slowFront) {
	g := front.hold("/v1/suggest", "white storks")
	page.Write("white storks")
	page.Press("Enter")
	page.Await(displays("white storks"))
	page.Evaluate("new Promise((then) => setTimeout(then, 200))") // lets all timers end that the script has set before
	if g.isAsked() {
		g.answer()
	}
	steps := page.Evaluate("history.length")
	page.Press("Enter")
	fence(page)
	equal(t, page, map[string]string{pageList + ".hidden": "true", "history.length": steps})
}

func movesByKeys(t *testing.T, page *browser.Tab, front *slowFront) {
	page.Go(front.url + "search?q=black+stork")
	page.Evaluate(pageBox + ".blur()")
	page.Press("/")
	page.Await(pageFocused)
	equal(t, page, map[string]string{"getSelection().toString()": "black stork", pageBox + ".value": "black stork"})
	at := func(n int) string { return fmt.Sprintf("document.activeElement === %s[%d]", pageLinks, n) }
	for _, step := range []struct{ key, then string }{
		{"ArrowDown", at(0)}, {"ArrowDown", at(1)}, {"ArrowUp", at(0)}, {"ArrowUp", pageFocused},
		{"ArrowDown", at(0)}, {"Escape", pageFocused}, {"ArrowDown", at(0)}, {"ArrowDown", at(1)}, {"ArrowDown", at(2)}, {"ArrowDown", at(2)},
	} {
		page.Press(step.key)
		if page.Evaluate(step.then) != "true" {
			t.Errorf("after %s, %s is not true", step.key, step.then)
		}
	}
	page.Press("/") // from a result, too
	page.Await(pageFocused)
	page.Write("/") // and in the box it is a character
	equal(t, page, map[string]string{pageBox + ".value": "/"})
	page.Go(front.url + "search?q=frogs")
	page.Press("/")
	page.Press("ArrowDown")
	page.Press("Enter")
	page.Await("location.pathname === '/docs/white.html'")
}

// takesSuggestion chooses a suggestion by the arrows. The list has the roles of a combobox.
func takesSuggestion(t *testing.T, page *browser.Tab, _ *slowFront) {
	page.Write("bla")
	page.Await(pageList + "?.hidden === false")
	page.Press("ArrowDown")
	equal(t, page, map[string]string{
		pageBox + ".getAttribute('aria-expanded') + ' ' + " + pageBox + ".getAttribute('aria-activedescendant')": "true suggestion0",
		pageList + ".children[0].getAttribute('aria-selected')":                                                  "true",
	})
	page.Press("ArrowUp") // back to what was typed
	equal(t, page, map[string]string{pageBox + ".value": "bla", pageBox + ".hasAttribute('aria-activedescendant')": "false"})
	page.Press("ArrowDown")
	chosen := page.Evaluate(pageBox + ".value")
	page.Press("Enter")
	page.Await("document.readyState === 'complete' && (" + displays(chosen) + " || location.pathname === '/docs/black.html')")
}

// leavesSuggestions closes the list of suggestions by Escape. The query stays, and the arrows lead to the results.
func leavesSuggestions(t *testing.T, page *browser.Tab, _ *slowFront) {
	page.Write("bla")
	page.Await(pageList + "?.hidden === false")
	page.Press("ArrowDown")
	page.Press("Escape")
	equal(t, page, map[string]string{pageList + ".hidden": "true", pageBox + ".value": "bla", pageBox + ".getAttribute('aria-expanded')": "false"})
	page.Write("ck")
	page.Await(displays("black") + " && " + pageList + ".hidden === false")
	page.Press("Escape")
	page.Press("ArrowDown")
	page.Await("document.activeElement === " + pageLinks + "[0]")
}

func ignoresOlderAnswer(t *testing.T, page *browser.Tab, front *slowFront) {
	g := front.hold("/search", "white")
	page.Write("white")
	await(t, g.asked, "a query is not asked")
	page.Write(" frogs")
	page.Await(displays("white frogs"))
	g.answer()
	fence(page)
	equal(t, page, map[string]string{displays("white frogs"): "true"})
}

// ignoresDroppedAnswer adds letters to a query, and deletes them before their answer comes.
func ignoresDroppedAnswer(t *testing.T, page *browser.Tab, front *slowFront) {
	page.Write("white")
	page.Await(displays("white"))
	g := front.hold("/search", "white f")
	page.Write(" f")
	await(t, g.asked, "a query is not asked")
	page.Press("Backspace")
	page.Press("Backspace")
	await(t, g.passed, "the browser waits for the answer to a query that was taken back")
	fence(page)
	equal(t, page, map[string]string{displays("white"): "true"})
}

// keepsFocus moves the focus to a result while newer results are on their way. The focus must not be lost with
// the old results.
func keepsFocus(t *testing.T, page *browser.Tab, front *slowFront) {
	page.Go(front.url + "search?q=white")
	page.Press("/")
	g := front.hold("/search", "forests")
	page.Write("forests")
	await(t, g.asked, "a query is not asked")
	page.Evaluate(pageLinks + "[0].focus()")
	g.answer()
	page.Await(displays("forests"))
	equal(t, page, map[string]string{pageFocused: "true"})
}

func worksWithoutScript(t *testing.T, page *browser.Tab, front *slowFront) {
	page.Call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	page.Go(front.url + "?without=script")
	page.Evaluate(pageBox + ".focus()")
	page.Write("white storks")
	equal(t, page, map[string]string{pageBox + ".hasAttribute('role')": "false"})
	page.Press("Enter")
	page.Await(displays("white storks"))
	equal(t, page, map[string]string{hasStorks: "true"})
}

// fence waits until the page has handled all answers that have arrived so far.
func fence(page *browser.Tab) {
	page.Evaluate("fetch('/search?q=fence').then((answer) => answer.text()).then(() => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then))))")
}

// slowFront is a proxy before the search page that can hold an answer back.
type slowFront struct {
	url  string
	gate atomic.Pointer[gate]
}

// gate holds back the answer to a query.
type gate struct {
	path, query string
	asked       chan struct{} // closed when the query has been asked
	open        chan struct{} // closed when its answer may go on
	passed      chan struct{} // closed when its answer has gone to the browser, or the browser has gone
}

func newSlowFront(t *testing.T, home string) *slowFront {
	t.Helper()
	target, err := url.Parse(home)
	if err != nil {
		t.Fatal(err)
	}
	f, proxy := new(slowFront), httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // it says when the browser has given up a request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g := f.gate.Load()
		if g == nil || r.URL.Path != g.path || r.URL.Query().Get("q") != g.query || !f.gate.CompareAndSwap(g, nil) {
			proxy.ServeHTTP(w, r)
			return
		}
		close(g.asked)
		select {
		case <-g.open:
		case <-r.Context().Done(): // the browser has given up the request, or has ended
		}
		defer close(g.passed)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.url = server.URL + "/"
	return f
}

// hold holds back the first answer to a query at a path, until its gate opens.
func (f *slowFront) hold(path, query string) *gate {
	g := &gate{path: path, query: query, asked: make(chan struct{}), open: make(chan struct{}), passed: make(chan struct{})}
	f.gate.Store(g)
	return g
}

// await waits until a channel is closed. After a minute, it fails the test.
func await(t *testing.T, closed <-chan struct{}, failure string) {
	t.Helper()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Fatal(failure)
	}
}

// answer lets the answer go on, and waits until it has gone.
func (g *gate) answer() {
	close(g.open)
	<-g.passed
}

func (g *gate) isAsked() bool {
	select {
	case <-g.asked:
		return true
	default:
		return false
	}
}
