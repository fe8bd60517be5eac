package environment

import (
	"crypto/subtle"
	"net/http"
)

// Headers that the server before a query function, such as CloudFront, adds to each request.
const (
	frontHeader = "X-Front-Key"  // the secret that both have
	frontHost   = "X-Front-Host" // domain of that server, such as search.example.org
)

// leastFrontKey is the least size of the secret in bytes.
const leastFrontKey = 16

// onlyFromFront returns a handler that passes to h only requests with the secret, and refuses all others with status 403.
// So nobody gets around the limits and the cache of the server before this one. If the secret is empty, there is no such
// server, and all requests are passed on.
//
// CloudFront must ask a function URL by the URL's own host. So the host of a request that is passed on becomes the domain
// in the header frontHost: otherwise feeds, for one, would link to the function URL, which refuses people.
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
		if domain := r.Header.Get(frontHost); domain != "" {
			r.Host = domain
		}
		r.Header.Del(frontHeader)
		r.Header.Del(frontHost)
		h.ServeHTTP(w, r)
	})
}
