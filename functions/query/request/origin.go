package request

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Origin returns the scheme and host by which a client has reached this server, such as
// https://search.example.org. A proxy in front of the server may say by X-Forwarded-Proto that the
// client reached it by https.
func Origin(r *http.Request) string {
	if IsSecure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// IsSecure reports whether the client has sent the request by https, to this server or to a proxy in
// front of it.
func IsSecure(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

// IsLoopback reports whether a host, with or without a port, is a loopback address such as 127.0.0.1, or the
// name localhost. All other names are refused, because their name servers could give them any address. The
// address of localhost cannot be changed by name servers (RFC 6761, section 6.3).
func IsLoopback(hostport string) bool {
	host := hostOf(hostport)
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// IsPublic reports whether a host, with or without a port, can be reached from everywhere: it is a
// public IP address, or a name below a public suffix, such as search.example.org. A name in a local
// network, such as intranet or search.internal, is not public.
func IsPublic(hostport string) bool {
	host := hostOf(hostport)
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsGlobalUnicast() && !ip.IsPrivate()
	}
	suffix, listed := publicsuffix.PublicSuffix(host)
	return len(host) > len(suffix) && (listed || strings.Contains(suffix, "."))
}

// hostOf returns a host without its port and without the brackets of an IPv6 address, in lower case.
func hostOf(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
