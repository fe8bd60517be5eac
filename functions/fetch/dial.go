package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
	"github.com/ncruces/go-dns"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// ports are the ports that may be dialled at public IP addresses.
var ports = [...]uint16{80, 443, 8080, 8443}

// errPort means that a request was not sent because of its port: at a public address, only the
// ports in the variable ports may be dialled.
var errPort = errors.New("the port is not asked")

// hosting is the address of the metadata service of Azure, from which a virtual machine gets its
// secrets. No request may reach it. It has to be listed because it is a public address; the
// metadata services of other clouds have link-local or private ones.
var hosting = netip.MustParsePrefix("168.63.129.16/32")

// dialer opens connections to public addresses, and to others if the operator or a collection
// allows them. It tries the IPv6 and IPv4 addresses of a name by turns (RFC 8305).
type dialer struct {
	trusting net.Dialer // net.Dialer for hosts that a collection allows by name: it connects to any address
	judging  net.Dialer // net.Dialer for hosts that no collection allows by name: it refuses some addresses (see guard)
}

// newDialer returns a dialer. If allowPrivate is true, it connects to any address and port.
func newDialer(allowPrivate bool, resolver *net.Resolver) *dialer {
	trusting := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Resolver: resolver}
	d := &dialer{trusting: trusting, judging: trusting}
	if !allowPrivate {
		d.judging.ControlContext = guard()
	}
	return d
}

// DialContext connects to an address of the form host:port. It fails with an error of package ssrf,
// or with errPort, if no IP address of the host may be dialled.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if name, _, err := net.SplitHostPort(address); err == nil && allowedBy(ctx).host(name) {
		return d.trusting.DialContext(ctx, network, address)
	}
	return d.judging.DialContext(ctx, network, address)
}

// guard returns a function for net.Dialer.ControlContext, which checks an address before a
// connection to it is opened. It accepts the addresses that ctx allows (see withAllowed), and
// public addresses on the usual ports (see the variable ports). An address is not public if it is a
// special-purpose address of IANA's registries, a multicast address, or an IPv6 address that
// contains an IPv4 address (mapped, NAT64, 6to4, Teredo).
func guard() func(ctx context.Context, network, address string, c syscall.RawConn) error {
	public := ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(hosting))
	return func(ctx context.Context, network, address string, c syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err == nil && allowedBy(ctx).address(at.Addr()) {
			return nil
		}
		if err := public.Safe(network, address, c); err != nil {
			return err
		}
		if !slices.Contains(ports[:], at.Port()) {
			return fmt.Errorf("%w: %d is none of %d", errPort, at.Port(), ports)
		}
		return nil
	}
}

const (
	maxNames   = 10_000    // greatest number of DNS answers in the cache, of some 300 bytes each
	maxNameAge = time.Hour // longest time for which a DNS answer is cached, even if its TTL is longer
)

// cachingResolver returns a resolver that connects to name servers by the given function. It caches
// their answers, negative ones too, for their TTL; it does not cache an answer with a TTL of 0.
func cachingResolver(dial dns.DialFunc) *net.Resolver {
	return dns.NewCachingResolver(&net.Resolver{Dial: dial}, dns.MaxCacheEntries(maxNames), dns.MaxCacheTTL(maxNameAge))
}

// Transport returns the HTTP transport of fetch: HTTP/1.1 and 2, without a proxy. It checks each
// address just before it connects, after the name was resolved, so that no name can lead to an
// address that is not allowed. It allows public addresses on the usual ports. On any port it allows
// the addresses in the settings of the batch's collections. If allowPrivate is set, it allows every
// address on every port.
func Transport(allowPrivate bool) *http.Transport { return newTransport(allowPrivate, nil) }

// newTransport returns the transport of fetch (see Transport). dial connects to name servers; if
// it is nil, the name servers of the system are used.
func newTransport(allowPrivate bool, dial dns.DialFunc) *http.Transport {
	return &http.Transport{
		DialContext:            newDialer(allowPrivate, cachingResolver(dial)).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  30 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
		DisableCompression:     true, // ask decodes by itself, with a cap
	}
}

// allowed holds networks and hosts to which collections allow requests, on any port, although
// they are not public. The zero value allows none.
type allowed struct {
	networks []netip.Prefix
	hosts    map[string]bool // canonical names of the allowed hosts
}

// parseAllowed reads a list of networks ("10.0.0.0/8"), addresses ("::1") and host
// names ("intranet.example"). A name allows only this host, at any address that it
// resolves to.
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

// host reports whether the host with this canonical name is allowed.
func (a allowed) host(name string) bool { return a.hosts[strings.TrimSuffix(name, ".")] }

// address reports whether an IP address is in one of the allowed networks.
func (a allowed) address(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	for _, network := range a.networks {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}

// allowedKey is the key under which a context holds its value of type allowed (see withAllowed).
type allowedKey struct{}

// Allow returns a context with which requests that are sent by Transport may also reach the given
// networks, addresses and host names. The entries are written as in the setting allow of a
// collection. Allow fails if an entry cannot be parsed.
func Allow(ctx context.Context, entries []string) (context.Context, error) {
	a, err := parseAllowed(entries)
	return withAllowed(ctx, a), err
}

// withAllowed returns a context with which requests may also reach the given allowed addresses.
func withAllowed(ctx context.Context, a allowed) context.Context {
	return context.WithValue(ctx, allowedKey{}, a)
}

// allowedBy returns the value that withAllowed has put into a context; the zero value if there is
// none.
func allowedBy(ctx context.Context) allowed {
	a, _ := ctx.Value(allowedKey{}).(allowed)
	return a
}
