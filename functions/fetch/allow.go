package fetch

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// allowed is what collections let be asked, on any port, although it is not
// public. The zero value is nothing.
type allowed struct {
	networks []netip.Prefix
	hosts    map[string]bool // canonical
}

// parseAllowed reads a list of networks ("10.0.0.0/8"), addresses ("::1") and
// host names ("intranet.example"). A name stands for itself alone, and for
// whatever address it resolves to.
func parseAllowed(entries []string) (allowed, error) {
	a := allowed{hosts: map[string]bool{}}
	for _, entry := range entries {
		if network, err := netip.ParsePrefix(entry); err == nil {
			a.networks = append(a.networks, network.Masked())
		} else if ip, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil && ip.Zone() == "" {
			ip = ip.Unmap()
			a.networks = append(a.networks, netip.PrefixFrom(ip, ip.BitLen()))
		} else if host, err := address.Parse("http://" + entry + "/"); err == nil && !strings.ContainsAny(entry, "/:@?#*") {
			a.hosts[host.Host] = true
		} else {
			return allowed{}, fmt.Errorf(`cannot allow %.100q: want a network such as "10.0.0.0/8", an address, or a host name without a port`, entry)
		}
	}
	return a, nil
}

// host reports whether a canonical host name is in the list.
func (a allowed) host(name string) bool { return a.hosts[strings.TrimSuffix(name, ".")] }

func (a allowed) address(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	for _, network := range a.networks {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}

type allowedKey struct{}

// Allow has requests with the context that it returns reach, by Transport, what
// the Allow of a collection lists.
func Allow(ctx context.Context, entries []string) (context.Context, error) {
	a, err := parseAllowed(entries)
	return withAllowed(ctx, a), err
}

// withAllowed has the transport reach what is allowed beside public addresses.
func withAllowed(ctx context.Context, a allowed) context.Context {
	return context.WithValue(ctx, allowedKey{}, a)
}

func allowedBy(ctx context.Context) allowed {
	a, _ := ctx.Value(allowedKey{}).(allowed)
	return a
}
