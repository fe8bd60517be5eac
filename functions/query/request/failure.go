package request

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Failure is an error in the form that clients see.
type Failure struct {
	Status    int // HTTP status code
	Sentence  string
	Parameter string // name of the parameter that is wrong; "" if the failure is not about one
	Retry     int    // number of seconds after which the client may try again; 0 if that would not help
}

// Error implements error.
func (f Failure) Error() string { return f.Sentence }

// Describe sets the headers of an answer that tell the client what to do about the failure, such as
// Retry-After.
func (f Failure) Describe(h http.Header) {
	h.Set("Cache-Control", "no-store")
	if f.Retry > 0 {
		h.Set("Retry-After", strconv.Itoa(f.Retry))
	}
	if f.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="Bucketsearch"`)
	}
}

// FailureOf returns the Failure that is sent to the client for the error err. It hides the details
// of internal errors.
func FailureOf(err error) Failure {
	if f, ok := errors.AsType[Failure](err); ok {
		return f
	}
	if refusal, ok := errors.AsType[*search.Refusal](err); ok {
		return Failure{Status: http.StatusBadRequest, Sentence: refusal.Sentence}
	}
	if busy, ok := errors.AsType[*effort.Refused](err); ok {
		return Failure{Status: http.StatusTooManyRequests, Sentence: fmt.Sprintf("%s; try again in %d s.", busy.Sentence, busy.Seconds), Retry: busy.Seconds}
	}
	if none, ok := errors.AsType[*engine.NoText](err); ok {
		return Failure{Status: http.StatusUnsupportedMediaType, Sentence: none.Error() + "."}
	}
	if errors.Is(err, manifest.ErrNotKept) {
		return WrongIn("asof", "Nothing is kept of that moment any more; ask for one of the last %d days.", manifest.Keep/(24*time.Hour))
	}
	if lost, ok := errors.AsType[*engine.Lost](err); ok {
		return Failure{Status: http.StatusServiceUnavailable, Sentence: lost.Error()}
	}
	if errors.Is(err, search.ErrNoLeaf) {
		return Failure{Status: http.StatusServiceUnavailable, Sentence: "None of the servers that search the index answers at the moment. Please try again in a little while.", Retry: 5}
	}
	if errors.Is(err, blob.ErrRetryable) || errors.Is(err, context.DeadlineExceeded) {
		return Failure{Status: http.StatusServiceUnavailable, Sentence: "The object store does not answer at the moment. Please try again in a little while.", Retry: 5}
	}
	return Failure{Status: http.StatusInternalServerError, Sentence: "Something went wrong here. The reason has been logged."}
}

// Wrong returns the Failure of a request that is malformed, with the status 400. The sentence, made from
// format and args, says how to change the request.
func Wrong(format string, args ...any) Failure {
	return Failure{Status: http.StatusBadRequest, Sentence: fmt.Sprintf(format, args...)}
}

// WrongIn is like Wrong, for a request with a wrong value of a parameter.
func WrongIn(parameter, format string, args ...any) Failure {
	f := Wrong(format, args...)
	f.Parameter = parameter
	return f
}
