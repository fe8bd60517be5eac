package main

import (
	"net"
	"net/http"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// handlerFor returns a handler that serves page, for a server that listens at the given address.
// If this is a loopback address, the handler refuses requests whose Host header is neither a
// loopback address nor localhost. So a web site in the user's browser cannot read the stored
// pages by letting its own name resolve to loopback (DNS rebinding).
func handlerFor(listening net.Addr, page http.Handler) http.Handler {
	if !request.IsLoopback(listening.String()) {
		return page
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !request.IsLoopback(r.Host) {
			http.Error(w, "This page is served to this machine only; open it by its address.", http.StatusMisdirectedRequest)
			return
		}
		page.ServeHTTP(w, r)
	})
}
