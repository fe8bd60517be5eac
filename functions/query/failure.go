package query

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// failure is an error as the client is told of it.
type failure struct {
	Status   int
	Sentence string
}

// Error implements error.
func (f failure) Error() string { return f.Sentence }

// failureOf hides the internals of errors that are ours.
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
	if errors.Is(err, blob.ErrRetryable) || errors.Is(err, context.DeadlineExceeded) {
		return failure{http.StatusServiceUnavailable, "The object store does not answer at the moment. Please try again in a little while."}
	}
	return failure{http.StatusInternalServerError, "Something went wrong here. The reason has been logged."}
}

// failurePage is what the template of a failure is given.
type failurePage struct {
	Box               box
	Heading, Sentence string
}

func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(r.Context().Err(), context.Canceled) {
		return // nobody listens
	}
	f := failureOf(err)
	if f.Status >= http.StatusInternalServerError {
		s.engine.Log.ErrorContext(r.Context(), "cannot answer", "path", r.URL.Path, "query", r.URL.RawQuery, "status", f.Status, "error", err)
	}
	if f.Status == http.StatusServiceUnavailable {
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
