package vitals

import (
	"fmt"
	"net/http"
)

// Incomplete is the header of an answer that says what could not be read for it.
const Incomplete = "X-Incomplete"

// WatchHTTP is Watch for a function that answers HTTP. A request has failed if
// it is answered by a status of 500 or more or as Incomplete, or the handler
// panics.
func (r *Recorder) WatchHTTP(name string, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		end := r.begin(name, 1)
		failure := errPanic // unless it returns
		defer func() { end(failure) }()
		noted := &noted{ResponseWriter: w}
		handler.ServeHTTP(noted, request)
		if failure = nil; noted.status >= http.StatusInternalServerError {
			failure = fmt.Errorf("%s %s was answered by %d %s", request.Method, request.URL.Path, noted.status, http.StatusText(noted.status))
		} else if lacking := w.Header().Get(Incomplete); lacking != "" {
			failure = fmt.Errorf("%s %s was answered from a damaged bucket: %s", request.Method, request.URL.Path, lacking)
		}
	})
}

// noted notes the status of the answer.
type noted struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (n *noted) WriteHeader(status int) {
	n.status = max(n.status, status)
	n.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }
