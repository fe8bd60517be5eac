package collection

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

var (
	// hasScheme matches texts with a scheme, such as "mailto:joe", but not
	// "localhost:8000", whose colon precedes a port.
	hasScheme = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*:(?:[^0-9]|$)`)
	// looksLikeHost matches texts that begin with one of these: a name that has a dot, an
	// IPv6 address in brackets, localhost, or a name and a port (such as intranet:8080).
	looksLikeHost = regexp.MustCompile(`(?i)^(?:[^\s./?#@:]+(?:\.[^\s./?#@:]+)+\.?|\[[0-9a-f:.]+\]|localhost|[^\s./?#@:]+:[0-9]+)(?:[:/?#]|$)`)
)

var errNoHost = errors.New("it does not begin with the name of a host")

// ParseSeed parses a seed as a person writes it. A seed without a scheme gets the scheme https
// ("example.org" becomes https://example.org/), or http if its host is localhost or an IP address.
func ParseSeed(raw string) (address.Address, error) {
	a, err := parseSeed(strings.TrimSpace(raw))
	if err != nil {
		return address.Address{}, fmt.Errorf("seed %.200q is no web address: %w; write it like https://example.org/", raw, err)
	}
	return a, nil
}

func parseSeed(raw string) (address.Address, error) {
	if hasScheme.MatchString(raw) {
		if _, rest, _ := strings.Cut(raw, ":"); strings.HasPrefix(rest, "///") {
			return address.Address{}, errNoHost
		}
		return address.Parse(raw)
	}
	raw = strings.TrimPrefix(raw, "//")
	if !looksLikeHost.MatchString(raw) {
		return address.Address{}, errNoHost
	}
	a, err := address.Parse("http://" + raw)
	if err != nil || isLocal(a) {
		return a, err
	}
	return address.Parse("https://" + raw)
}

// isLocal reports whether the host is localhost or an IP address.
func isLocal(a address.Address) bool {
	_, err := netip.ParseAddr(a.Site)
	return err == nil || a.Site == "localhost" || strings.HasSuffix(a.Site, ".localhost")
}
