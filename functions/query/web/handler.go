// Package web is the part of the query function for people: the search page, its results and stored
// copies of pages. It writes nothing but judgments (by people who have a key) and clicks on results.
// Both are off unless the operator turns them on.
package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// ownPolicy is the content security policy of our own pages. From this server, they may load the style
// sheet, the script, images and frames with stored copies, and may send the form, requests of the script and
// reports of clicks. Images may also be within the page (data:). All else is forbidden.
const ownPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; frame-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Site is the search page with what an operator has turned on.
type Site struct {
	Engine  *engine.Engine
	Brand   Brand
	Judging Judging
	Clicks  Clicks
	// Suggest is the path that answers with suggestions for the list below the search box; "" for no list. The
	// script requests PATH?q=WORDS, with the parameters site, lang and collection if the results have such
	// filters. It expects {"suggestions": [{"text": "…", "url": "…"}, …]}, where url is the address of the
	// page whose title text is, and is missing for other suggestions.
	Suggest string
}

// Handler serves the pages for people, in the language of the reader (see package messages):
//
//	GET /                      the search box, and what is searched
//	GET /search                results (see package request for the parameters)
//	GET /copy?url=&asof=&q=    the stored copy of a page for people: in a frame, with a banner
//	         &view=text        its main part as text, with the words of the query q marked
//	GET /copy/frame?url=&asof= the copy within this frame
//	GET /page?url=&asof=       the stored copy of a page, today's or a past one, for programs
//	         &format=          html as it is stored, or its main part as text,
//	                           markdown or json (see engine.Format)
//	GET /style.css, /pages.js, /logo
//	GET /search.js             the script that puts a search box into pages of other sites
//
// There are further paths for judges (see Judging) and for counting clicks (see Clicks). An error is
// answered by a sentence; errors that are not the client's fault are logged. A client that hangs up
// ends its search.
func Handler(of Site) http.Handler {
	s := &siteHandler{Site: of}
	style := newAsset("/style.css", "text/css; charset=utf-8", of.Brand.style())
	script := newAsset("/pages.js", "text/javascript; charset=utf-8", file("pages.js"))
	s.templates = newTemplates(&s.Brand, style.address, script.address)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.serve(s.home))
	mux.HandleFunc("GET /search", s.serve(s.search))
	mux.HandleFunc("GET /copy", s.serve(s.copy))
	mux.HandleFunc("GET /copy/frame", s.serve(s.frame))
	mux.HandleFunc("GET /page", s.serve(s.stored))
	mux.HandleFunc("GET /style.css", s.serve(style.serve))
	mux.HandleFunc("GET /pages.js", s.serve(script.serve))
	mux.HandleFunc("GET /search.js", s.serve(s.embed))
	mux.HandleFunc("/", s.serve(s.nothing))
	if of.Brand.HasLogo() {
		mux.HandleFunc("GET /logo", s.serve(of.Brand.Logo.serve))
	}
	if !s.Judging.Keys.Empty() {
		s.judgeRoutes(mux)
	}
	if !s.Clicks.Key.Empty() {
		mux.HandleFunc("POST /click", s.serve(s.click))
	}
	return mux
}

type siteHandler struct {
	Site
	templates templates
	clicked   clickCount
}

// serve makes an HTTP handler of a function that may fail. If the function returns an error, the
// handler sends this error to the client. So the function must not write anything before it fails.
func (s *siteHandler) serve(action func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", ownPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Vary", "Accept, Accept-Language")
		header.Set("Cache-Control", "private, max-age=10")
		if err := action(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

// homePage is the data of the template for the start page.
type homePage struct {
	Box   box
	About *engine.About // nil if what is searched cannot be counted at present
	Crawl string        // see engine.Engine.CrawlState
}

// home shows the start page: the search box, and how much is searched. If this cannot be counted, it shows
// the box alone.
func (s *siteHandler) home(w http.ResponseWriter, r *http.Request) error {
	page := homePage{Box: s.box(""), About: s.about(r.Context()), Crawl: s.Engine.CrawlState()}
	page.Box.Focus = true
	return s.render(w, r, http.StatusOK, "home", page)
}

// about returns what is searched; nil if this cannot be counted at present.
func (s *siteHandler) about(ctx context.Context) *engine.About {
	about, err := s.Engine.About(ctx)
	if err != nil {
		s.Engine.Log.ErrorContext(ctx, "cannot say what is searched", "error", err)
		return nil
	}
	return &about
}

func (s *siteHandler) nothing(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return request.Failure{Status: http.StatusMethodNotAllowed, Sentence: "Nothing is changed here; ask by GET."}
	}
	return request.Failure{Status: http.StatusNotFound, Sentence: "There is no page at this address."}
}

// failurePage is the data of the template for failures.
type failurePage struct {
	Box      box
	Heading  string // key of the message that is the heading
	Sentence string // what went wrong, in English
	Live     string // address of the page of which a copy was asked for; "" for none
}

func (s *siteHandler) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(r.Context().Err(), context.Canceled) {
		return // nobody listens
	}
	f := request.FailureOf(err)
	if f.Status >= http.StatusInternalServerError {
		s.Engine.Log.ErrorContext(r.Context(), "cannot answer", "path", r.URL.Path, "query", r.URL.RawQuery, "status", f.Status, "error", err)
	}
	f.Describe(w.Header())
	if request.WantsJSON(r) {
		err = request.WriteJSON(w, f.Status, map[string]string{"error": f.Sentence})
	} else {
		asked := s.box(strings.ToValidUTF8(r.URL.Query().Get("q"), "\uFFFD"))
		err = s.render(w, r, f.Status, "failure", failurePage{Box: asked, Heading: headingOf(f.Status), Sentence: f.Sentence})
	}
	if err != nil {
		s.Engine.Log.ErrorContext(r.Context(), "cannot tell of a failure", "path", r.URL.Path, "error", err)
	}
}

// headingOf returns the key of the message that is the heading for an HTTP status.
func headingOf(status int) string {
	switch {
	case status == http.StatusNotFound:
		return "not found"
	case status == http.StatusForbidden:
		return "forbidden"
	case status == http.StatusServiceUnavailable:
		return "unavailable"
	case status < http.StatusInternalServerError:
		return "bad request"
	}
	return "failed"
}
