package api

import (
	"net/http"
	"net/url"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// share lets scripts of web pages read the answer to a request (CORS, https://fetch.spec.whatwg.org/).
// It does so without credentials: browsers send no cookies. Which pages may read answers depends on
// the host at which this server was asked:
//
//	host                                  pages whose scripts may read answers
//	a public one, or keys are needed      all
//	another one, such as 127.0.0.1:8080   those of this machine, such as http://localhost:3000
//
// The second row protects what only a machine or a local network can reach: otherwise any web site
// could search it through the browsers of its visitors there.
func (a *api) share(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Origin")
	needed, err := a.guard.NeedsKey(r.Context())
	if isOpen := !needed || err != nil; isOpen && !request.IsPublic(r.Host) {
		origin, err := url.Parse(r.Header.Get("Origin"))
		if err != nil || !request.IsLoopback(origin.Host) {
			return
		}
	}
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag, Retry-After, X-Stored-Url, Memento-Datetime, X-Gone-Since")
}

// preflight answers the request by which a browser asks whether a script may send a request with the
// given methods. The answer of share has said from where.
func preflight(w http.ResponseWriter, allowed string) {
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", allowed)
		h.Set("Access-Control-Allow-Headers", "Authorization, X-API-Key, Content-Type, If-None-Match")
		h.Set("Access-Control-Max-Age", "86400") // seconds
	}
	w.WriteHeader(http.StatusNoContent)
}
