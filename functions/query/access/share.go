package access

import (
	"net/http"
	"net/url"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// Share sets the headers by which browsers let scripts of web pages read the answer to a request (CORS,
// https://fetch.spec.whatwg.org/). Browsers send no cookies with such requests. Which pages may read the
// answer depends on the name by which the request addresses this server (header Host):
//
//	host                                  pages whose scripts may read answers
//	public, or keys are needed            all pages
//	other, such as 127.0.0.1:8080         pages of this machine, such as http://localhost:3000
//
// The second row protects a server that only a machine or a local network can reach. Without it, any web
// site could search this server through the browsers of people in that network.
func (g *Guard) Share(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Origin")
	needed, err := g.NeedsKey(r.Context())
	if isOpen := !needed || err != nil; isOpen && !request.IsPublic(r.Host) {
		origin, err := url.Parse(r.Header.Get("Origin"))
		if err != nil || !request.IsLoopback(origin.Host) {
			return
		}
	}
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag, Retry-After, X-Stored-Url, Memento-Datetime, X-Gone-Since")
}

// Preflight answers the request by which a browser asks whether a script may send a request (CORS
// preflight). The parameters methods and headers list what scripts may use, such as "GET, HEAD". The caller
// must have called Share before, which decides whether scripts of the page may ask at all.
func Preflight(w http.ResponseWriter, methods, headers string) {
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", methods)
		h.Set("Access-Control-Allow-Headers", headers)
		h.Set("Access-Control-Max-Age", "86400") // seconds
	}
	w.WriteHeader(http.StatusNoContent)
}
