package fetch

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Allow is what an operator lets be asked, on any port, although it is not
// public. The zero Allow is empty.
type Allow struct {
	networks []netip.Prefix
	hosts    map[string]bool // canonical
}

// ParseAllow reads a list of networks ("10.0.0.0/8"), addresses ("::1") and
// host names ("intranet.example"). A name stands for itself alone, and for
// whatever address it resolves to.
func ParseAllow(entries []string) (Allow, error) {
	a := Allow{hosts: map[string]bool{}}
	for _, entry := range entries {
		if network, err := netip.ParsePrefix(entry); err == nil {
			a.networks = append(a.networks, network.Masked())
		} else if ip, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil && ip.Zone() == "" {
			ip = ip.Unmap()
			a.networks = append(a.networks, netip.PrefixFrom(ip, ip.BitLen()))
		} else if host, err := address.Parse("http://" + entry + "/"); err == nil && !strings.ContainsAny(entry, "/:@?#*") {
			a.hosts[host.Host] = true
		} else {
			return Allow{}, fmt.Errorf(`cannot allow %.100q: want a network such as "10.0.0.0/8", an address, or a host name without a port`, entry)
		}
	}
	return a, nil
}

// host reports whether a canonical host name is in the list.
func (a Allow) host(name string) bool { return a.hosts[strings.TrimSuffix(name, ".")] }

func (a Allow) address(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	for _, network := range a.networks {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}

type allowKey struct{}

// withAllow has the transport reach what is allowed beside what its Options
// allow.
func withAllow(ctx context.Context, a Allow) context.Context {
	return context.WithValue(ctx, allowKey{}, a)
}

func allowedBy(ctx context.Context) Allow {
	a, _ := ctx.Value(allowKey{}).(Allow)
	return a
}
