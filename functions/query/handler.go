package query

import "net/http"

// ownPolicy is that of our own pages: a style sheet, a form and nothing else.
const ownPolicy = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler serves the search page, the JSON API and stored copies:
//
//	GET /                      the box
//	GET /search?q=&n=&from=    n hits from the one numbered from, as HTML, or as
//	                           JSON to those who Accept application/json
//	GET /page?url=&asof=       the stored copy of a page, of now or a past moment
//
// /search takes more, each as often as is useful where more than one makes
// sense:
//
//	site= lang= collection= type=   pages of any of these values
//	after= before=                  pages fetched then: a date, or a time by RFC 3339
//	asof=                           the state of a past moment
//	facet=                          counts by site, lang, collection or type
//	timeout=                        milliseconds after which what was found is returned
//	explain=score, explain=cost     how scores came about, what the answer cost
//
// What goes wrong is told in a sentence, {"error": …} in JSON, and what is not
// the client's fault is logged once. A client that hangs up ends its search.
func Handler(e *Engine) http.Handler {
	s := &site{engine: e}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.serve(s.home))
	mux.HandleFunc("GET /search", s.serve(s.search))
	mux.HandleFunc("GET /page", s.serve(s.stored))
	mux.HandleFunc("GET /style.css", s.serve(s.style))
	mux.HandleFunc("GET /", s.serve(s.nothing))
	return mux
}

type site struct{ engine *Engine }

// serve answers by the action, or by the error that it returns, before which
// it must not write.
func (s *site) serve(action func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", ownPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Vary", "Accept")
		if err := action(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

func (s *site) home(w http.ResponseWriter, _ *http.Request) error {
	return render(w, http.StatusOK, "home", box{})
}

func (s *site) nothing(http.ResponseWriter, *http.Request) error {
	return failure{http.StatusNotFound, "There is no page at this address."}
}
