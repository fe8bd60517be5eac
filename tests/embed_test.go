package tests

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/tests/browser"
)

// storks returns a site with pages about storks. Some words in them look like HTML elements, so that a
// search box that does not escape texts would show them as elements.
func storks() host {
	page := func(body string) answer {
		return answer{status: http.StatusOK, contentType: "text/html", body: "<!DOCTYPE html><html lang=en>" + body}
	}
	return host{
		"/docs/": page(`<title>Birds</title><h1>Birds</h1><p>All birds of the garden: ` + link("white.html") + link("black.html")),
		"/docs/white.html": page(`<title>White &lt;img src=x&gt; storks</title><h1>White storks</h1><p>They nest on roofs.
			<h2 id="food">Food</h2><p>The white stork eats &lt;b&gt;frogs&lt;/b&gt; and mice on meadows near the river.`),
		"/docs/black.html": page(`<title>Black storks</title><h1>Black storks</h1><p>The black stork lives in forests.`),
	}
}

// stranger is a page of another site with two search boxes. Its security policy admits only scripts from
// the search page. Its style sheet (see hostile) tries to change how everything looks. HOME is replaced
// by the address of the search page, which a request for this page gives in the query parameter home.
const stranger = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Another site</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; script-src HOME; connect-src HOME; require-trusted-types-for 'script'">
<link rel="stylesheet" href="/hostile.css"></head>
<body><p>Words with a <mark>mark</mark> and <input id="own" aria-label="Own"></p>
<main><script src="HOMEsearch.js?language=en" defer data-site="127.0.0.1" data-placeholder="Find birds"></script></main>
<aside></aside><script src="HOMEsearch.js?language=en" defer data-target="aside" data-site="example.org" data-key="secret" data-shortcuts="off"></script></body></html>`

const hostile = `html { font-size: 4px }
* { color: red !important; font-family: fantasy; letter-spacing: 1em !important; text-transform: uppercase !important; line-height: 9 }
input, a, span, [role=option], .title, .panel { display: inline !important; position: static !important; background: yellow !important; width: 3000px }
mark { background: lime }`

// TestBoxOnAnotherSite opens a page of another site that has search boxes, in a window as narrow as the
// smallest phones, and uses the boxes by the keyboard.
func TestBoxOnAnotherSite(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, func(origin int, _ []string) http.Handler {
		if origin == 0 {
			return storks()
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shown := answer{status: http.StatusOK, contentType: "text/html", body: strings.ReplaceAll(stranger, "HOME", r.URL.Query().Get("home"))}
			if r.URL.Path == "/hostile.css" {
				shown.contentType, shown.body = "text/css", hostile
			}
			host{r.URL.RequestURI(): shown}.ServeHTTP(w, r)
		})
	})
	p := newPlace(t)
	run := p.start("up", crawling("--listen", "127.0.0.1:0", s.origins[0]+"/docs/")...)
	home := run.searchPage(t)
	run.await(t, func() bool { return strings.Contains(get(t, home+"search?q=black+stork"), "black.html") })
	page, address := browser.Open(t, 320, 600), s.origins[1]+"/?home="+url.QueryEscape(home)
	page.Go(address)
	page.Await(mainBox)

	t.Run("results", func(t *testing.T) { usesResults(t, page, s.origins[0]) })
	page.Go(address)
	page.Await(mainBox)
	t.Run("keys", func(t *testing.T) { usesKeys(t, page) })
	t.Run("style", func(t *testing.T) { keepsStyles(t, page) })
	t.Run("failure", func(t *testing.T) { failsAndRecovers(t, page) })
}

// JavaScript expressions for the two boxes in the page stranger. The box in main is the first one;
// boxStatus, boxOptions, boxValue and boxFocused are for parts of this box.
const (
	mainBox    = "document.querySelector('main bucket-search')?.shadowRoot"
	sideBox    = "document.querySelector('aside bucket-search').shadowRoot"
	boxStatus  = mainBox + ".querySelector('[role=status]').textContent"
	boxOptions = mainBox + ".querySelectorAll('[role=option]')"
	boxValue   = mainBox + ".querySelector('input').value"
	boxFocused = "document.activeElement === document.querySelector('main bucket-search')"
)

// usesResults types a query into the first box, checks the results as they are shown and as screen
// readers get them, and opens the first result by the keyboard. The parameter origin is that of the site
// with the results.
func usesResults(t *testing.T, page *browser.Tab, origin string) {
	page.Press("/")
	page.Await(boxFocused)
	page.Write("white stork frogs")
	page.Await(boxOptions + ".length > 1")
	path := strings.TrimPrefix(origin, "http://") + " › docs"
	want := []string{
		"search: ", "search: ", "combobox: Search", "combobox: Search", "listbox: Search",
		"option: White <img src=x> storks " + path + " › white.html Food … The white stork eats <b>frogs</b> and mice on meadows near the river.",
		"option: Black storks " + path + " › black.html The black stork lives in forests.",
		"option: Birds " + path + " All birds of the garden: see white.html see black.html",
		"option: All results",
		"status: ", "status: ",
	}
	if diff := cmp.Diff(want, page.Accessible("search", "combobox", "listbox", "option", "status")); diff != "" {
		t.Errorf("what screen readers perceive (-want +got):\n%s", diff)
	}
	if got := page.Evaluate(boxStatus); got != "3 pages" {
		t.Errorf("the status is %q", got)
	}
	if got := page.Evaluate("[..." + mainBox + ".querySelectorAll('.snippet')][0].innerHTML"); !strings.HasSuffix(got, "eats &lt;b&gt;<mark>frogs</mark>&lt;/b&gt; and mice on meadows near the river.") {
		t.Errorf("the first snippet is %s", got)
	}
	page.Press("ArrowDown")
	input := mainBox + ".querySelector('input')"
	if got := page.Evaluate(input + ".getAttribute('aria-activedescendant') + ' ' + " + input + ".getAttribute('aria-expanded') + ' ' + " + boxOptions + "[0].ariaSelected"); got != "option0 true true" {
		t.Errorf("after an arrow, the box says %s", got)
	}
	page.Press("Enter")
	page.Await("location.href === '" + origin + "/docs/white.html#food'")
}

// usesKeys checks the keys of the first box: "/" moves the focus to the box, but not while another field
// has the focus; an arrow and Enter choose the query that was probably meant; Escape leaves the box.
func usesKeys(t *testing.T, page *browser.Tab) {
	page.Evaluate("document.getElementById('own').focus()")
	page.Press("/")
	if page.Evaluate("document.getElementById('own').value") != "/" {
		t.Error("the shortcut takes a letter from the field of the page")
	}
	page.Evaluate("document.getElementById('own').blur()")
	page.Press("/")
	page.Await(boxFocused)
	page.Write("forrests")
	page.Await(boxStatus + ".includes('Nothing was found for')")
	page.Await(boxOptions + "[0]?.textContent === 'Did you mean forests'")
	page.Press("ArrowUp")
	page.Press("Enter")
	page.Await(boxValue + " === 'forests' && " + boxStatus + " === '1 page'")
	page.Press("Escape")
	page.Await(boxStatus + " === '' && !(" + boxFocused + ")")
}

// keepsStyles checks that the styles of the page do not change the box, that the styles of the box do not
// change the page, and that the box is not wider than the window.
func keepsStyles(t *testing.T, page *browser.Tab) {
	page.Press("/")
	page.Write(" storks")
	page.Await(boxStatus + " !== ''")
	for expression, want := range map[string]string{
		"getComputedStyle(document.querySelector('mark')).backgroundColor":                                                                                          "rgb(0, 255, 0)",
		"getComputedStyle(" + mainBox + ".querySelector('mark')).backgroundColor":                                                                                   "rgb(255, 236, 153)",
		"getComputedStyle(" + mainBox + ".querySelector('.snippet')).color":                                                                                         "rgb(31, 36, 48)",
		"getComputedStyle(" + mainBox + ".querySelector('input')).fontSize":                                                                                         "16px",
		"getComputedStyle(" + mainBox + ".querySelector('input')).letterSpacing":                                                                                    "normal",
		"getComputedStyle(" + mainBox + ".querySelector('.title')).textTransform":                                                                                   "none",
		"getComputedStyle(" + mainBox + ".querySelector('.panel')).position":                                                                                        "absolute",
		mainBox + ".querySelector('.panel').getBoundingClientRect().right <= innerWidth":                                                                            "true",
		"[..." + boxOptions + "].every((o) => o.getBoundingClientRect().right <= innerWidth)":                                                                       "true",
		"document.querySelectorAll('bucket-search').length":                                                                                                         "2",
		mainBox + ".querySelector('input').placeholder":                                                                                                             "Find birds",
		"((box) => { document.body.append(box); box.remove(); return box.shadowRoot.querySelector('input').placeholder })(document.createElement('bucket-search'))": "Search",
		sideBox + ".querySelector('input').placeholder":                                                                                                             "Search",
	} {
		if got := page.Evaluate(expression); got != want {
			t.Errorf("%s is %s, want %s", expression, got, want)
		}
	}
}

// failsAndRecovers searches by the second box, first while the network is off, and then again when it is
// on. This box is limited to another site and has a key, so it finds nothing even then.
func failsAndRecovers(t *testing.T, page *browser.Tab) {
	connect := func(isOffline bool) {
		page.Call("Network.emulateNetworkConditions", map[string]any{"offline": isOffline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}, nil)
	}
	page.Call("Network.enable", nil, nil)
	connect(true)
	page.Evaluate(sideBox + ".querySelector('input').focus()")
	page.Write("black stork")
	retry, said := sideBox+".querySelector('button')", sideBox+".querySelector('[role=status]').textContent"
	page.Await("!" + retry + ".hidden")
	if got := page.Evaluate(said); got != "Not available at the moment" {
		t.Errorf("without a network, the box says %q", got)
	}
	connect(false)
	page.Evaluate(retry + ".click()")
	page.Await(said + ".startsWith('Nothing was found for')")
	if page.Evaluate(retry+".hidden") != "true" {
		t.Error("the button stays")
	}
}
