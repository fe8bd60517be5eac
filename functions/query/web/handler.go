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

// The content security policies of our own pages. ownPolicy allows only our style sheet, our form
// and images within the page (data:). imagesPolicy, for results that are images, also allows images
// from this server.
const (
	ownPolicy    = policyStart + "img-src data:" + policyEnd
	imagesPolicy = policyStart + "img-src 'self' data:" + policyEnd

	policyStart = "default-src 'none'; style-src 'self'; "
	policyEnd   = "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

	pingPolicy = "; connect-src 'self'" // pingPolicy is added to ownPolicy for a page whose links have the attribute ping
)

// Site is the search page with what an operator has turned on.
type Site struct {
	Engine  *engine.Engine
	Judging Judging
	Clicks  Clicks
}

// Handler serves the pages for people:
//
//	GET /                      the search box
//	GET /search                results (see package request for the parameters)
//	GET /page?url=&asof=       the stored copy of a page, today's or a past one
//	         &format=          html as it is stored, or its main part as text,
//	                           markdown or json (see engine.Format)
//	GET /style.css
//
// There are further paths for judges (see Judging) and for counting clicks (see Clicks). An error is
// answered by a sentence; errors that are not the client's fault are logged. A client that hangs up
// ends its search.
func Handler(of Site) http.Handler {
	s := &siteHandler{Site: of}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.serve(s.home))
	mux.HandleFunc("GET /search", s.serve(s.search))
	mux.HandleFunc("GET /page", s.serve(s.stored))
	mux.HandleFunc("GET /style.css", s.serve(s.style))
	mux.HandleFunc("/", s.serve(s.nothing))
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
	clicked clickCount
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

func (s *siteHandler) home(w http.ResponseWriter, _ *http.Request) error {
	return render(w, http.StatusOK, "home", homePage{Crawl: s.Engine.CrawlState()})
}

// homePage is the data of the template for the page with the search box alone.
type homePage struct {
	Box   box
	Crawl string // see engine.Engine.CrawlState
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
	Box               box
	Heading, Sentence string
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
		asked := box{Query: strings.ToValidUTF8(r.URL.Query().Get("q"), "\uFFFD")}
		err = render(w, f.Status, "failure", failurePage{asked, http.StatusText(f.Status), f.Sentence})
	}
	if err != nil {
		s.Engine.Log.ErrorContext(r.Context(), "cannot tell of a failure", "path", r.URL.Path, "error", err)
	}
}
