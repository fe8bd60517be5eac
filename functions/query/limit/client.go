package limit

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientOf returns the client that has sent a request: its IPv4 address, or its IPv6 address with the last 64
// bits set to zero. The address behind proxies is the last in X-Forwarded-For that is not a proxy's itself,
// because clients can write whatever they like before it. An address that cannot be read is the zero Addr, so
// that all such clients count as one.
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

// networkOf returns the client that has an address.
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

// addressOf returns the IP address in a text, which may have a port. It is the zero Addr if there is none.
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
