// Package query is the query function: it searches, and shows stored copies of pages. It reads only the
// bucket, so any number of instances can run anywhere. It writes nothing but judgments (by people who
// have a key) and clicks on results. Judging and the counting of clicks are off unless the operator
// turns them on.
//
// An [Engine] answers; [Handler] serves its answers over HTTP.
package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
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

// Handler serves the search page, the JSON API and stored copies:
//
//	GET /                      the search box
//	GET /search?q=&n=&from=    the hits numbered from+1 to from+n; HTML, or JSON
//	                           for clients that Accept application/json
//	GET /page?url=&asof=       the stored copy of a page, today's or a past one
//	         &format=          html as it is stored, or its main part as text,
//	                           markdown or json (see Format)
//
// /search takes further parameters. The first four, facet and explain may be repeated:
//
//	site= lang= collection= type=   only pages with one of these values; type=image finds
//	                                images instead (see Picture)
//	after= before=                  only pages fetched in this period; each is a date, or
//	                                an RFC 3339 time
//	asof=                           search the state of a past moment
//	across=                         also find pages in these languages, such as de,fr, by
//	                                translating the query (see search.Across)
//	fold=site                       at most two of the first ten hits are of one site, as
//	                                always in HTML
//	facet=                          counts by site, lang, collection or type
//	timeout=                        milliseconds after which the hits so far are returned
//	explain=score, explain=cost     how scores came about; what the answer cost
//
// Accept-Language chooses among translations and copies of a page, if the query does not tell its
// language.
//
// An error is answered by a sentence; in JSON, it is in {"error": …}. Errors that are not the
// client's fault are logged. A client that hangs up ends its search. There are further paths for
// judges (see Judging) and for counting clicks (see Clicks).
func Handler(e *Engine) http.Handler {
	s := &siteHandler{engine: e}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.serve(s.home))
	mux.HandleFunc("GET /search", s.serve(s.search))
	mux.HandleFunc("GET /page", s.serve(s.stored))
	mux.HandleFunc("GET /style.css", s.serve(s.style))
	mux.HandleFunc("/", s.serve(s.nothing))
	if !e.Judging.Keys.Empty() {
		s.judgeRoutes(mux)
	}
	if !e.Clicks.Key.Empty() {
		mux.HandleFunc("POST /click", s.serve(s.click))
	}
	return mux
}

type siteHandler struct {
	engine  *Engine
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
		if err := action(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

func (s *siteHandler) home(w http.ResponseWriter, _ *http.Request) error {
	return render(w, http.StatusOK, "home", box{})
}

func (s *siteHandler) nothing(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return failure{http.StatusMethodNotAllowed, "Nothing is changed here; ask by GET."}
	}
	return failure{http.StatusNotFound, "There is no page at this address."}
}

// The default and the greatest number of hits on a page of results.
const (
	defaultHits = 10
	maxHits     = 100
)

// maxPatience is the largest value of the parameter timeout, in milliseconds.
const maxPatience = 60_000

// searchParameters are the parameters of /search.
var searchParameters = []string{"q", "n", "from", "site", "lang", "collection", "type", "after", "before", "asof", "facet", "timeout", "explain", "fold", "across"}

func readQuery(r *http.Request, now time.Time) (Query, error) {
	values, err := parametersOf(r)
	if err != nil {
		return Query{}, err
	}
	for name := range values {
		if !slices.Contains(searchParameters, name) {
			return Query{}, wrong("There is no parameter %.40q; there are %s.", name, strings.Join(searchParameters, ", "))
		}
	}
	q := Query{Query: search.Query{
		Text:       strings.TrimSpace(strings.ToValidUTF8(values.Get("q"), "\uFFFD")),
		Site:       values["site"],
		Lang:       values["lang"],
		Collection: values["collection"],
		Type:       values["type"],
		Facets:     values["facet"],
		Fold:       true,
		Reader:     languagesOf(r.Header.Values("Accept-Language")),
	}}
	if q.Across.Into, err = literal.Languages("across", strings.Join(values["across"], ","), search.MaxAcross); err != nil {
		return q, wrong("%v.", err)
	}
	if len(q.Text) > search.MaxText {
		return q, wrong("The query has %d bytes; ask with at most %d.", len(q.Text), search.MaxText)
	}
	if q.Size, err = number(values, "n", defaultHits, 1, maxHits); err != nil {
		return q, err
	}
	if q.From, err = number(values, "from", 0, 0, q.most()-q.Size); err != nil {
		return q, err
	}
	for name, to := range map[string]*time.Time{"after": &q.After, "before": &q.Before, "asof": &q.AsOf} {
		if *to, err = momentParameter(values, name); err != nil {
			return q, err
		}
	}
	millis, err := number(values, "timeout", 0, 1, maxPatience)
	if err != nil {
		return q, err
	}
	if millis > 0 {
		q.Deadline = now.Add(time.Duration(millis) * time.Millisecond)
	}
	for _, what := range values["fold"] {
		if what != "site" {
			return q, wrong("%v.", literal.Wrong("fold", what, "site"))
		}
		q.Spread = true
	}
	for _, what := range values["explain"] {
		switch what {
		case "score":
			q.Explain = true
		case "cost":
			q.Cost = true
		default:
			return q, wrong("%v.", literal.Wrong("explain", what, "score or cost"))
		}
	}
	return q, nil
}

// most returns how many hits of this query a client can see in all by turning the pages of results.
// It is the greatest sum of From and Size that the engine accepts.
func (q *Query) most() int {
	if len(q.Across.Into) > 0 {
		return search.MaxAcrossHits
	}
	return search.MaxHits
}

// maxLanguages is the greatest number of languages that languagesOf returns.
const maxLanguages = 16

// languagesOf returns the languages in the fields Accept-Language (RFC 9110, section 12.5.4) as
// primary subtags: each once, those of the greatest quality first, at most maxLanguages.
func languagesOf(fields []string) (languages []string) {
	type wanted struct {
		language string
		quality  float64
	}
	var all []wanted
	for part := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		tag, parameter, _ := strings.Cut(part, ";")
		primary, _, _ := strings.Cut(strings.TrimSpace(tag), "-")
		quality := 1.0
		if value, found := strings.CutPrefix(strings.TrimSpace(parameter), "q="); found {
			quality, _ = strconv.ParseFloat(value, 64)
		}
		if primary != "" && primary != "*" && quality > 0 {
			all = append(all, wanted{strings.ToLower(primary), quality})
		}
	}
	slices.SortStableFunc(all, func(a, b wanted) int { return cmp.Compare(b.quality, a.quality) })
	for _, w := range all {
		if !slices.Contains(languages, w.language) && len(languages) < maxLanguages {
			languages = append(languages, w.language)
		}
	}
	return languages
}

func momentParameter(values url.Values, name string) (time.Time, error) {
	t, err := literal.Time(name, values.Get(name))
	if err != nil {
		return t, wrong("%v.", err)
	}
	return t, nil
}

func parametersOf(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, wrong("The address is malformed behind its question mark; a percent sign is written %%25 there.")
	}
	return values, nil
}

func number(values url.Values, name string, otherwise, least, most int) (int, error) {
	text := values.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := literal.Whole(name, text, int64(least), int64(most))
	if err != nil {
		return 0, wrong("%v.", err)
	}
	return int(n), nil
}

func wrong(format string, args ...any) failure {
	return failure{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// wantsJSON reports whether the client accepts application/json by name, and does
// not prefer text/html (RFC 9110, section 12.5.1).
func wantsJSON(r *http.Request) bool {
	var asJSON, asHTML float64
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		quality, err := strconv.ParseFloat(parameters["q"], 64)
		if err != nil {
			quality = 1
		}
		switch media {
		case "application/json":
			asJSON = quality
		case "text/html":
			asHTML = quality
		}
	}
	return asJSON > 0 && asJSON >= asHTML
}

// failure is an error in the form that clients see.
type failure struct {
	Status   int
	Sentence string
}

// Error implements error.
func (f failure) Error() string { return f.Sentence }

// failureOf returns the failure that is sent to the client for the error err. It hides the details
// of internal errors.
func failureOf(err error) failure {
	if f, ok := errors.AsType[failure](err); ok {
		return f
	}
	if refusal, ok := errors.AsType[*search.Refusal](err); ok {
		return failure{http.StatusBadRequest, refusal.Sentence}
	}
	if errors.Is(err, manifest.ErrNotKept) {
		return failure{http.StatusBadRequest, fmt.Sprintf("Nothing is kept of that moment any more; ask for one of the last %d days.", manifest.Keep/(24*time.Hour))}
	}
	if lost, ok := errors.AsType[*Lost](err); ok {
		return failure{http.StatusServiceUnavailable, lost.Error()}
	}
	if errors.Is(err, blob.ErrRetryable) || errors.Is(err, context.DeadlineExceeded) {
		return failure{http.StatusServiceUnavailable, "The object store does not answer at the moment. Please try again in a little while."}
	}
	return failure{http.StatusInternalServerError, "Something went wrong here. The reason has been logged."}
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
	f := failureOf(err)
	if f.Status >= http.StatusInternalServerError {
		s.engine.Log.ErrorContext(r.Context(), "cannot answer", "path", r.URL.Path, "query", r.URL.RawQuery, "status", f.Status, "error", err)
	}
	if _, lost := errors.AsType[*Lost](err); f.Status == http.StatusServiceUnavailable && !lost {
		w.Header().Set("Retry-After", "5")
	}
	if wantsJSON(r) {
		err = writeJSON(w, f.Status, map[string]string{"error": f.Sentence})
	} else {
		asked := box{Query: strings.ToValidUTF8(r.URL.Query().Get("q"), "\uFFFD")}
		err = render(w, f.Status, "failure", failurePage{asked, http.StatusText(f.Status), f.Sentence})
	}
	if err != nil {
		s.engine.Log.ErrorContext(r.Context(), "cannot tell of a failure", "path", r.URL.Path, "error", err)
	}
}
