package main

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// handlerFor protects the page of a server on loopback against DNS rebinding: names that
// resolve to loopback are refused, else a web site in the user's browser could read
// what was crawled.
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

// isLoopback reports whether a host, with or without a port, is this machine: by its
// address, or as localhost, the one name that no name server can assign (RFC 6761,
// section 6.3).
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
