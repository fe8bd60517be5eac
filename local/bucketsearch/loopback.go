package main

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// handlerFor returns a handler that serves page, for a server that listens at the given address.
// If this is a loopback address, the handler refuses requests whose Host header is neither a
// loopback address nor localhost. So a web site in the user's browser cannot read the stored
// pages by letting its own name resolve to loopback (DNS rebinding).
func handlerFor(listening net.Addr, page http.Handler) http.Handler {
	if !isLoopback(listening.String()) {
		return page
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, "This page is served to this machine only; open it by its address.", http.StatusMisdirectedRequest)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a host, with or without a port, is a loopback address or the name
// localhost. It accepts no other names, because a name server can give them any address. localhost
// is safe: name servers cannot change its address (RFC 6761, section 6.3).
func isLoopback(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}
