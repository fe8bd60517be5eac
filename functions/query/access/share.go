package access

import (
	"net/http"
	"net/url"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// Share lets scripts of web pages read the answer to a request (CORS, https://fetch.spec.whatwg.org/).
// It does so without credentials: browsers send no cookies. Which pages may read answers depends on
// the host at which this server was asked:
//
//	host                                  pages whose scripts may read answers
//	a public one, or keys are needed      all
//	another one, such as 127.0.0.1:8080   those of this machine, such as http://localhost:3000
//
// The second row protects what only a machine or a local network can reach: otherwise any web site
// could search it through the browsers of its visitors there.
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

// Preflight answers the request by which a browser asks whether a script may send a request with the
// given methods and headers, which are lists such as "GET, HEAD". The caller has called Share, which
// says from where.
func Preflight(w http.ResponseWriter, methods, headers string) {
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", methods)
		h.Set("Access-Control-Allow-Headers", headers)
		h.Set("Access-Control-Max-Age", "86400") // seconds
	}
	w.WriteHeader(http.StatusNoContent)
}
