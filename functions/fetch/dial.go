package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// ports of public addresses that are asked: those on which web sites are found.
var ports = [...]uint16{80, 443, 8080, 8443}

var errPort = errors.New("the port is not asked")

// hosting is a public address behind which a cloud answers its own machines
// alone, with their secrets (Azure). Those of the other clouds are link-local
// or private.
var hosting = netip.MustParsePrefix("168.63.129.16/32")

// dialer makes connections to what the operator and the collections allow. It
// tries the IPv6 and IPv4 addresses of a name by turns (RFC 8305).
type dialer struct {
	trusting net.Dialer // for hosts that are allowed by name
	judging  net.Dialer
}

func newDialer(allowPrivate bool, resolver *net.Resolver) *dialer {
	trusting := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Resolver: resolver}
	d := &dialer{trusting: trusting, judging: trusting}
	if !allowPrivate {
		d.judging.ControlContext = guard()
	}
	return d
}

// DialContext fails with one of ssrf's errors or errPort if no address of the
// host may be asked.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if name, _, err := net.SplitHostPort(address); err == nil && allowedBy(ctx).host(name) {
		return d.trusting.DialContext(ctx, network, address)
	}
	return d.judging.DialContext(ctx, network, address)
}

// guard judges an address at the moment at which it is dialled. Beside those
// that ctx allows only public addresses pass: none that is special in IANA's
// registries or multicast, and no IPv6 address that stands for an IPv4 address
// (mapped, NAT64, 6to4, Teredo), which would have to be judged, too.
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
