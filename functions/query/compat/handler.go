package compat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/query/access"
	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

const (
	maxSearches = 10      // greatest number of searches in a request
	maxBody     = 1 << 16 // greatest size of the body of a request, in bytes
	atOnce      = 4       // number of searches of a request that run at the same time
)

// requestHeaders are the headers that scripts of web pages may send.
const requestHeaders = "Authorization, Content-Type, X-API-Key, X-Algolia-API-Key, X-Algolia-Application-Id, X-Algolia-Agent, X-Meilisearch-Client"

type compat struct {
	engine *engine.Engine
	guard  *access.Guard
}

// endpoint is what is answered at a path. Its answer is written as JSON.
type endpoint struct {
	methods []string // besides OPTIONS
	open    bool     // whether no key is needed
	failure func(request.Failure) any
	answer  func(c *compat, w http.ResponseWriter, r *http.Request) (any, error)
}

// Handler serves the paths below /compat/ to the clients that the guard admits.
func Handler(e *engine.Engine, guard *access.Guard) http.Handler {
	c := &compat{e, guard}
	post, get := []string{http.MethodPost}, []string{http.MethodGet, http.MethodHead}
	mux := http.NewServeMux()
	for path, p := range map[string]endpoint{
		"/compat/algolia/1/indexes/{index}/queries":  {post, false, algoliaFailure, (*compat).algoliaQueries},
		"/compat/algolia/1/indexes/{index}/query":    {post, false, algoliaFailure, (*compat).algoliaQuery},
		"/compat/algolia/":                           {nil, true, algoliaFailure, nil},
		"/compat/meilisearch/multi-search":           {post, false, meiliFailure, (*compat).meiliMulti},
		"/compat/meilisearch/indexes/{index}/search": {append(get, post...), false, meiliFailure, (*compat).meiliSearch},
		"/compat/meilisearch/health":                 {get, true, meiliFailure, (*compat).meiliHealth},
		"/compat/meilisearch/version":                {get, true, meiliFailure, (*compat).meiliVersion},
		"/compat/":                                   {nil, true, meiliFailure, nil},
	} {
		mux.Handle(path, c.serve(p))
	}
	return mux
}

// serve returns the HTTP handler of an endpoint.
func (c *compat) serve(p endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Robots-Tag", "noindex")
		c.guard.Share(w, r)
		if r.Method == http.MethodOptions {
			access.Preflight(w, strings.Join(append(slices.Clone(p.methods), r.Method), ", "), requestHeaders)
			return
		}
		answer, err := c.admit(p, w, r)
		status := http.StatusOK
		if err != nil {
			if errors.Is(r.Context().Err(), context.Canceled) {
				return // nobody listens
			}
			f := c.failureOf(r, err)
			f.Describe(header)
			answer, status = p.failure(f), f.Status
		}
		var content bytes.Buffer
		encoder := json.NewEncoder(&content)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(answer); err != nil {
			c.engine.Log.ErrorContext(r.Context(), "cannot write an answer", "path", r.URL.Path, "error", err)
			http.Error(w, "Something went wrong here.", http.StatusInternalServerError)
			return
		}
		header.Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(content.Bytes()) // fails when the client has gone
	}
}

// admit checks the method and the key of a request, and answers it.
func (c *compat) admit(p endpoint, w http.ResponseWriter, r *http.Request) (any, error) {
	if p.answer == nil {
		return nil, request.Failure{Status: http.StatusNotFound, Sentence: "There is nothing at this path: only searches are answered."}
	}
	if !slices.Contains(p.methods, r.Method) {
		w.Header().Set("Allow", strings.Join(p.methods, ", "))
		return nil, request.Failure{Status: http.StatusMethodNotAllowed, Sentence: fmt.Sprintf("There is no %.20s here; ask by %s.", r.Method, p.methods[0])}
	}
	if !p.open {
		takeKey(r)
		if err := c.guard.Admit(r, control.Search); err != nil {
			return nil, err
		}
	}
	return p.answer(c, w, r)
}

// takeKey takes the key from the header or parameter in which Algolia's clients send it, and sets it as the
// header X-API-Key, unless the request has that header.
func takeKey(r *http.Request) {
	const name = "X-Algolia-API-Key" // of a header, or of a parameter in lower case
	key := r.Header.Get(name)
	if key == "" {
		key = r.URL.Query().Get(strings.ToLower(name))
	}
	if key != "" && r.Header.Get("X-API-Key") == "" {
		r.Header.Set("X-API-Key", key)
	}
}

// failureOf returns what the client is told of an error, and logs an error that is not the client's
// fault. The address is logged without its parameters, as they may have the key.
func (c *compat) failureOf(r *http.Request, err error) request.Failure {
	f := request.FailureOf(err)
	if f.Status >= http.StatusInternalServerError {
		c.engine.Log.ErrorContext(r.Context(), "cannot answer", "path", r.URL.Path, "status", f.Status, "error", err)
	}
	return f
}

// readBody decodes the JSON object in the body of a request into value. Members that the type of value does
// not have are ignored.
func readBody(w http.ResponseWriter, r *http.Request, value any) error {
	content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return request.Failure{Status: http.StatusRequestEntityTooLarge, Sentence: fmt.Sprintf("The body is too long; send at most %d bytes.", maxBody)}
	}
	if err != nil {
		return request.Wrong("The body ended too early; send it again.")
	}
	if err := json.Unmarshal(content, value); err != nil {
		return request.Wrong("The body is not the JSON object that is expected here: %v.", err)
	}
	return nil
}

// searchAll answers several searches at once, and returns the answers in the order of the searches. If one
// search fails, all fail, as with Algolia and Meilisearch. For a key with a limit, each search counts as a
// request.
func searchAll[T any](c *compat, r *http.Request, searches []parameters, one func(context.Context, parameters) (T, error)) ([]T, error) {
	if n := len(searches); n == 0 || n > maxSearches {
		return nil, request.Wrong("The body has %d searches; send 1 to %d.", n, maxSearches)
	}
	c.guard.Count(r, len(searches)-1)
	all := make([]T, len(searches))
	group, ctx := errgroup.WithContext(r.Context())
	group.SetLimit(atOnce)
	for i, p := range searches {
		group.Go(func() (err error) {
			all[i], err = one(ctx, p)
			return err
		})
	}
	return all, group.Wait()
}
