package fetch

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"code.dny.dev/ssrf"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

func allow(t testing.TB, entries ...string) allowed {
	t.Helper()
	a, err := parseAllowed(entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestGuard checks which addresses may be dialled. The same rules apply to an address from a name
// server and to one that stands in a URL.
func TestGuard(t *testing.T) {
	judged := guard()
	none, own := allow(t), allow(t, "10.1.0.0/16", "fd00:1::/32", "::1")
	for _, c := range []struct {
		allowed allowed
		address string
		want    error
	}{
		{none, "93.184.216.34:80", nil},
		{none, "93.184.216.34:443", nil},
		{none, "93.184.216.34:8080", nil},
		{none, "[2606:2800:220:1::1]:8443", nil},
		{none, "93.184.216.34:22", errPort},
		{none, "[2606:2800:220:1::1]:25", errPort},
		{none, "0.0.0.0:80", ssrf.ErrProhibitedIP},
		{none, "10.1.2.3:80", ssrf.ErrProhibitedIP},
		{none, "100.100.100.200:80", ssrf.ErrProhibitedIP}, // metadata (Alibaba)
		{none, "127.0.0.1:80", ssrf.ErrProhibitedIP},
		{none, "127.255.255.254:80", ssrf.ErrProhibitedIP},
		{none, "168.63.129.16:80", ssrf.ErrProhibitedIP},   // host of the machine (Azure)
		{none, "169.254.169.254:80", ssrf.ErrProhibitedIP}, // metadata
		{none, "172.16.0.1:80", ssrf.ErrProhibitedIP},
		{none, "192.0.0.192:80", ssrf.ErrProhibitedIP}, // metadata (Oracle)
		{none, "192.168.0.1:80", ssrf.ErrProhibitedIP},
		{none, "224.0.0.1:80", ssrf.ErrProhibitedIP}, // multicast
		{none, "255.255.255.255:80", ssrf.ErrProhibitedIP},
		{none, "[::]:80", ssrf.ErrProhibitedIP},
		{none, "[::1]:80", ssrf.ErrProhibitedIP},
		{none, "[::7f00:1]:80", ssrf.ErrProhibitedIP},            // IPv4-compatible
		{none, "[::ffff:127.0.0.1]:80", ssrf.ErrProhibitedIP},    // mapped
		{none, "[::ffff:0:7f00:1]:80", ssrf.ErrProhibitedIP},     // translated (SIIT)
		{none, "[64:ff9b::7f00:1]:80", ssrf.ErrProhibitedIP},     // NAT64
		{none, "[64:ff9b:1::a00:1]:80", ssrf.ErrProhibitedIP},    // local NAT64
		{none, "[2002:7f00:1::]:80", ssrf.ErrProhibitedIP},       // 6to4
		{none, "[2001:0:1::f5ff:fffe]:80", ssrf.ErrProhibitedIP}, // Teredo
		{none, "[fd00:ec2::254]:80", ssrf.ErrProhibitedIP},       // metadata (AWS)
		{none, "[fe80::1%eth0]:80", ssrf.ErrProhibitedIP},
		{none, "[2606:2800:220:1::1%eth0]:80", ssrf.ErrProhibitedIP},
		{none, "[fec0::1]:80", ssrf.ErrProhibitedIP},
		{none, "[ff02::1]:80", ssrf.ErrProhibitedIP},
		{none, "@/run/socket", ssrf.ErrInvalidHostPort},
		{own, "10.1.2.3:22", nil},
		{own, "[::ffff:10.1.2.3]:80", nil},
		{own, "[fd00:1::2]:9000", nil},
		{own, "[::1]:9000", nil},
		{own, "10.2.0.1:80", ssrf.ErrProhibitedIP},
		{own, "93.184.216.34:22", errPort},
	} {
		network := "tcp4"
		if strings.HasPrefix(c.address, "[") {
			network = "tcp6"
		}
		if err := judged(withAllowed(t.Context(), c.allowed), network, c.address, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.address, err, c.want)
		}
	}
	if err := judged(t.Context(), "udp4", "93.184.216.34:80", nil); !errors.Is(err, ssrf.ErrProhibitedNetwork) {
		t.Errorf("UDP: %v", err)
	}
}

func TestParseAllowed(t *testing.T) {
	a := allow(t, "192.0.2.7", "[2001:db8::1]", "10.9.8.7/8", "Intranet.Example", "bücher.example")
	for address, want := range map[string]bool{"192.0.2.7": true, "192.0.2.8": false, "2001:db8::1": true, "2001:db8::2": false, "10.0.0.0": true} {
		if got := a.address(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: allowed %t, want %t", address, got, want)
		}
	}
	for name, want := range map[string]bool{"intranet.example": true, "intranet.example.": true, "xn--bcher-kva.example": true, "a.intranet.example": false, "": false} {
		if got := a.host(name); got != want {
			t.Errorf("%s: allowed %t, want %t", name, got, want)
		}
	}
	for _, entry := range []string{"", " ", "10.0.0.0/33", "10.0.0/8", "fe80::1%eth0", "http://a", "a:80", "a/b", "a b", "*.example", "u@a", "a?b", "::g"} {
		if a, err := parseAllowed([]string{entry}); err == nil || !strings.Contains(err.Error(), "want a network") {
			t.Errorf("%q: %+v, %v", entry, a, err)
		}
	}
}

// TestRedirectToMetadata fetches a page that redirects to an address that is not allowed. The
// redirect must become a link, and the address must be refused when a later batch requests it.
func TestRedirectToMetadata(t *testing.T) {
	asked := false
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(inside.Close)
	w := newWorld(t, http.RedirectHandler(inside.URL, http.StatusFound))
	links := w.run(t, w.batch("/")).Ledger.Links
	if len(links) != 1 || links[0].Kind != book.Redirect || asked {
		t.Fatalf("links %+v, asked at once: %t", links, asked)
	}
	w.Transport = Transport(false)
	b := w.batch("")
	b.Version.Token++
	b.Targets[0].URL = links[0].Target
	if got := ends(w.run(t, b)); got[0] != (end{book.Failed, "address refused"}) || asked {
		t.Errorf("the redirect ends as %v, asked: %t", got[0], asked)
	}
}

func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	if Transport(false).Proxy != nil {
		t.Error("a proxy of the environment would be asked")
	}
}
