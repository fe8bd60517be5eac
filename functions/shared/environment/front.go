package environment

import (
	"crypto/subtle"
	"net/http"
)

// frontHeader is the header in which the server before a query function, such as CloudFront, sends the secret that both
// have.
const frontHeader = "X-Front-Key"

// leastFrontKey is the least size of the secret in bytes.
const leastFrontKey = 16

// onlyFromFront returns a handler that passes to h only requests with the secret, without it, and refuses all others with
// status 403. So nobody gets around the limits and the cache of the server before this one. If the secret is empty, there
// is no such server, and all requests are passed on.
func onlyFromFront(secret string, h http.Handler) http.Handler {
	if secret == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(frontHeader)), []byte(secret)) != 1 {
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, "Only the server before this one may ask here. Ask at its address.", http.StatusForbidden)
			return
		}
		r.Header.Del(frontHeader)
		h.ServeHTTP(w, r)
	})
}
