package limit

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientOf returns the client that has sent a request: its IPv4 address, or its IPv6 address with the last
// 64 bits set to zero. If the request comes from one of the proxies, the client is the last address in
// X-Forwarded-For that is not itself one of the proxies. The addresses before that one are ignored, because
// a client can send any header. An address that cannot be parsed becomes the zero Addr, so all clients with
// such addresses count as one.
func clientOf(r *http.Request, proxies []netip.Prefix) netip.Addr {
	from := addressOf(r.RemoteAddr)
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(forwarded) {
		if !isAmong(from, proxies) || strings.TrimSpace(text) == "" {
			break
		}
		from = addressOf(strings.TrimSpace(text))
	}
	return networkOf(from)
}

// networkOf returns the client to which an address belongs: an IPv4 or loopback address itself, or the first
// address of an IPv6 network with a prefix of 64 bits.
func networkOf(a netip.Addr) netip.Addr {
	if !a.Is6() || a.IsLoopback() {
		return a
	}
	network, err := a.Prefix(64)
	if err != nil {
		return a // never: every IPv6 address has a prefix of 64 bits
	}
	return network.Addr()
}

// addressOf returns the IP address in a text such as 192.0.2.1, 192.0.2.1:80 or [2001:db8::1]:80, without
// its port. It is the zero Addr if the text has none.
func addressOf(text string) netip.Addr {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap().WithZone("")
	}
	alone, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return alone.Unmap().WithZone("")
}

func isAmong(a netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}
