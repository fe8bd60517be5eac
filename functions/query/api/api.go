// Package api is the part of the query function for programs: HTTP paths below /v1/ that answer in
// JSON and other formats which programs read. The document openapi.json describes all of them; it is
// served at /v1/openapi.json, and as a page for people at /v1/.
//
// # Versions
//
// Members may be added to objects of JSON, and parameters to paths, without notice; clients ignore
// members that they do not know. A change that would break clients gets new paths below /v2/.
//
// # Positions in texts
//
// Offsets in titles and snippets count characters: Unicode code points, which Go calls runes. They
// are neither bytes nor the UTF-16 code units of JavaScript. In "Müller", the last "r" is at offset 5.
package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/access"
	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/query/web"
	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// Search is the path of the results page for people. A request there that accepts JSON is answered like one
// to /v1/search.
const Search = "/search"

// endpoint is what the API answers at a path.
type endpoint struct {
	path       string
	method     string   // http.MethodGet, which includes HEAD, or http.MethodPost
	scope      string   // scope that a key must have (see package access); "" where none is needed
	parameters []string // names of all parameters in the address; others are refused
	// answer answers a request whose parameters have been checked. If it fails, it must not have
	// written anything.
	answer func(a *api, w http.ResponseWriter, r *http.Request, values url.Values) error
}

// endpoints are all paths of the API.
var endpoints = []endpoint{
	{"/v1/search", http.MethodGet, control.Search, searchParameters, (*api).search},
	{Search, http.MethodGet, control.Search, searchParameters, (*api).search},
	{"/v1/suggest", http.MethodGet, control.Search, suggestParameters, (*api).suggest},
	{Suggest, http.MethodGet, "", suggestParameters, (*api).suggest},
	{"/v1/facets", http.MethodGet, control.Search, facetParameters, (*api).facets},
	{"/v1/multi", http.MethodPost, control.Search, nil, (*api).multi},
	{"/v1/page", http.MethodGet, control.Page, []string{"url", "asof", "format"}, (*api).page},
	{"/v1/openapi.json", http.MethodGet, "", nil, (*api).describe},
	{"/v1/{$}", http.MethodGet, "", nil, (*api).guide},
}

type api struct {
	engine *engine.Engine
	guard  *access.Guard
}

// Handler serves the paths below /v1/, and the aliases Search and Suggest, to the clients that the guard admits. An
// error is answered by a Problem; errors that are not the client's fault are logged. A client that
// hangs up ends its search.
func Handler(e *engine.Engine, guard *access.Guard) http.Handler {
	a := &api{engine: e, guard: guard}
	mux := http.NewServeMux()
	for _, p := range endpoints {
		mux.Handle(p.path, a.serve(p))
	}
	mux.Handle("/", a.serve(endpoint{answer: (*api).nothing}))
	return mux
}

// serve returns the HTTP handler of an endpoint. An endpoint without a method answers all paths that no
// other endpoint has, with any method.
func (a *api) serve(p endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Robots-Tag", "noindex")
		header.Set("Vary", "Accept, Accept-Language")
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			a.guard.Share(w, r)
		}
		if err := a.admit(p, w, r); err != nil {
			a.fail(w, r, err)
		}
	}
}

// admit checks the method, the key and the names of the parameters of a request, and then answers it.
func (a *api) admit(p endpoint, w http.ResponseWriter, r *http.Request) error {
	if p.method == "" {
		return p.answer(a, w, r, nil)
	}
	allowed := strings.Join(methods(p.method), ", ")
	switch {
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", allowed)
		access.Preflight(w, allowed, "Authorization, X-API-Key, Content-Type, If-None-Match")
		return nil
	case !slices.Contains(methods(p.method), r.Method):
		w.Header().Set("Allow", allowed)
		return request.Failure{Status: http.StatusMethodNotAllowed, Sentence: fmt.Sprintf("There is no %.20s at %s; ask by %s.", r.Method, r.URL.Path, p.method)}
	}
	if p.scope != "" {
		if err := a.guard.Admit(r, p.scope); err != nil {
			return err
		}
		a.restrict(w, r)
	}
	values, err := request.Parameters(r)
	if err != nil {
		return err
	}
	if err := request.Only(values, p.parameters); err != nil {
		return err
	}
	return p.answer(a, w, r, values)
}

// Protect returns a handler that passes to h only requests that the guard admits: if keys are needed, the
// key must have all the scopes. It is for handlers outside of the API that read the same data, such as /mcp.
func Protect(h http.Handler, e *engine.Engine, guard *access.Guard, scopes ...string) http.Handler {
	a := &api{engine: e, guard: guard}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := guard.Admit(r, scopes...); err != nil {
			a.fail(w, r, err)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// restrict forbids shared caches, such as proxies, to store the answer if a key is needed for it.
func (a *api) restrict(w http.ResponseWriter, r *http.Request) {
	if needed, err := a.guard.NeedsKey(r.Context()); needed || err != nil {
		w.Header().Set("Cache-Control", "private, "+freshFor)
		w.Header().Add("Vary", "Authorization, X-API-Key")
	}
}

// methods returns the methods that a path with the given main method answers.
func methods(main string) []string {
	if main == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead, http.MethodOptions}
	}
	return []string{main, http.MethodOptions}
}

func (a *api) nothing(_ http.ResponseWriter, _ *http.Request, _ url.Values) error {
	return request.Failure{Status: http.StatusNotFound, Sentence: "There is nothing at this path; /v1/ lists the paths."}
}

// Problem is the JSON of an error (RFC 9457), of the media type application/problem+json.
type Problem struct {
	Type      string `json:"type"`  // always about:blank, so that Status is the kind of problem
	Title     string `json:"title"` // name of Status, such as Bad Request
	Status    int    `json:"status"`
	Detail    string `json:"detail"`              // sentence that says what to do
	Parameter string `json:"parameter,omitempty"` // name of the parameter that is wrong, if it is one
	// Error is Detail again, at the path /search only: errors there had only this member before there was a
	// Problem.
	Error string `json:"error,omitempty"`
}

// problemOf returns the Problem that is sent to the client for an error.
func problemOf(f request.Failure) Problem {
	return Problem{Type: "about:blank", Title: http.StatusText(f.Status), Status: f.Status, Detail: f.Sentence, Parameter: f.Parameter}
}

// fail answers a request with the Problem of an error.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(r.Context().Err(), context.Canceled) {
		return // nobody listens
	}
	if err := WriteProblem(w, r, a.failure(r, err)); err != nil {
		a.engine.Log.ErrorContext(r.Context(), "cannot tell of a failure", "path", r.URL.Path, "error", err)
	}
}

// WriteProblem answers a request with the Problem of a failure.
func WriteProblem(w http.ResponseWriter, r *http.Request, f request.Failure) error {
	f.Describe(w.Header())
	p := problemOf(f)
	if r.URL.Path == Search {
		p.Error = p.Detail
	}
	content, err := reply.Marshal(p, false)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(f.Status)
	_, _ = w.Write(content) // fails when the client has gone
	return nil
}

// failure returns what the client is told of an error. It logs the error if it is not the client's fault
// (status 500 or more).
func (a *api) failure(r *http.Request, err error) request.Failure {
	f := request.FailureOf(err)
	if f.Status >= http.StatusInternalServerError {
		a.engine.Log.ErrorContext(r.Context(), "cannot answer", "path", r.URL.Path, "query", r.URL.RawQuery, "status", f.Status, "error", err)
	}
	return f
}

// freshFor is the value of the header Cache-Control of answers: caches may keep an answer for 10 seconds.
// Answers are made from manifests that may be about as old, so a cached answer is not much older than a new
// one.
const freshFor = "max-age=10"

// write answers a request with content of the given media type. The ETag of the answer is the hash of the
// parameter tag, which is the content without what changes from one answer to the next (the time taken and
// the cost). A client that sends the same ETag in If-None-Match gets the status 304 without content.
func write(w http.ResponseWriter, r *http.Request, media string, content, tag []byte) {
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("ETag", `W/"`+layout.ContentHash(tag)+`"`)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", freshFor)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// page answers a request for the stored copy of a page.
func (a *api) page(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	return web.ServeStored(w, r, a.engine, engine.JSON)
}
