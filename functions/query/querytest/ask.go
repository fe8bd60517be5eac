package querytest

import (
	"net/http"
	"net/http/httptest"
	"strings"
)

// Ask sends a request. The parameter header has header lines such as "Accept: text/html".
func Ask(h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// AskJSON sends a GET request that accepts JSON.
func AskJSON(h http.Handler, target string) *httptest.ResponseRecorder {
	return Ask(h, "GET", target, "Accept: application/json")
}
