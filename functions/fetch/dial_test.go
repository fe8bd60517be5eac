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

func allow(t testing.TB, entries ...string) Allow {
	t.Helper()
	a, err := ParseAllow(entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestGuard judges addresses that name servers and literals can lead to.
func TestGuard(t *testing.T) {
	own := Options{Allow: allow(t, "10.1.0.0/16", "fd00:1::/32", "::1")}
	for _, c := range []struct {
		options Options
		address string
		want    error
	}{
		{Options{}, "93.184.216.34:80", nil},
		{Options{}, "93.184.216.34:443", nil},
		{Options{}, "93.184.216.34:8080", nil},
		{Options{}, "[2606:2800:220:1::1]:8443", nil},
		{Options{}, "93.184.216.34:22", errPort},
		{Options{}, "[2606:2800:220:1::1]:25", errPort},
		{Options{Ports: []uint16{3000}}, "93.184.216.34:3000", nil},
		{Options{Ports: []uint16{3000}}, "93.184.216.34:80", errPort},
		{Options{}, "0.0.0.0:80", ssrf.ErrProhibitedIP},
		{Options{}, "10.1.2.3:80", ssrf.ErrProhibitedIP},
		{Options{}, "100.100.100.200:80", ssrf.ErrProhibitedIP}, // metadata (Alibaba)
		{Options{}, "127.0.0.1:80", ssrf.ErrProhibitedIP},
		{Options{}, "127.255.255.254:80", ssrf.ErrProhibitedIP},
		{Options{}, "168.63.129.16:80", ssrf.ErrProhibitedIP},   // host of the machine (Azure)
		{Options{}, "169.254.169.254:80", ssrf.ErrProhibitedIP}, // metadata
		{Options{}, "172.16.0.1:80", ssrf.ErrProhibitedIP},
		{Options{}, "192.0.0.192:80", ssrf.ErrProhibitedIP}, // metadata (Oracle)
		{Options{}, "192.168.0.1:80", ssrf.ErrProhibitedIP},
		{Options{}, "224.0.0.1:80", ssrf.ErrProhibitedIP}, // multicast
		{Options{}, "255.255.255.255:80", ssrf.ErrProhibitedIP},
		{Options{}, "[::]:80", ssrf.ErrProhibitedIP},
		{Options{}, "[::1]:80", ssrf.ErrProhibitedIP},
		{Options{}, "[::7f00:1]:80", ssrf.ErrProhibitedIP},            // IPv4-compatible
		{Options{}, "[::ffff:127.0.0.1]:80", ssrf.ErrProhibitedIP},    // mapped
		{Options{}, "[::ffff:0:7f00:1]:80", ssrf.ErrProhibitedIP},     // translated (SIIT)
		{Options{}, "[64:ff9b::7f00:1]:80", ssrf.ErrProhibitedIP},     // NAT64
		{Options{}, "[64:ff9b:1::a00:1]:80", ssrf.ErrProhibitedIP},    // local NAT64
		{Options{}, "[2002:7f00:1::]:80", ssrf.ErrProhibitedIP},       // 6to4
		{Options{}, "[2001:0:1::f5ff:fffe]:80", ssrf.ErrProhibitedIP}, // Teredo
		{Options{}, "[fd00:ec2::254]:80", ssrf.ErrProhibitedIP},       // metadata (AWS)
		{Options{}, "[fe80::1%eth0]:80", ssrf.ErrProhibitedIP},
		{Options{}, "[2606:2800:220:1::1%eth0]:80", ssrf.ErrProhibitedIP},
		{Options{}, "[fec0::1]:80", ssrf.ErrProhibitedIP},
		{Options{}, "[ff02::1]:80", ssrf.ErrProhibitedIP},
		{Options{}, "@/run/socket", ssrf.ErrInvalidHostPort},
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
		if err := guard(c.options)(t.Context(), network, c.address, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.address, err, c.want)
		}
	}
	if err := guard(Options{})(t.Context(), "udp4", "93.184.216.34:80", nil); !errors.Is(err, ssrf.ErrProhibitedNetwork) {
		t.Errorf("UDP: %v", err)
	}
}

func TestParseAllow(t *testing.T) {
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
		if a, err := ParseAllow([]string{entry}); err == nil || !strings.Contains(err.Error(), "want a network") {
			t.Errorf("%q: %+v, %v", entry, a, err)
		}
	}
}

// TestAllowedByName reaches a loopback server through names and networks that
// are allowed, and through no other.
func TestAllowedByName(t *testing.T) {
	names := nameServer{"intranet.test.": {ip4: "127.0.0.1"}, "other.test.": {ip4: "127.0.0.1"}}
	for _, c := range []struct {
		options Options
		host    string
		want    end
	}{
		{Options{}, "intranet.test", end{book.Failed, "address refused"}},
		{Options{}, "127.0.0.1", end{book.Failed, "address refused"}},
		{Options{Allow: allow(t, "intranet.test")}, "intranet.test", end{book.Stored, ""}},
		{Options{Allow: allow(t, "intranet.test")}, "other.test", end{book.Failed, "address refused"}},
		{Options{Allow: allow(t, "intranet.test")}, "127.0.0.1", end{book.Failed, "address refused"}},
		{Options{Allow: allow(t, "127.0.0.0/8")}, "other.test", end{book.Stored, ""}},
		{Options{AllowPrivate: true}, "other.test", end{book.Stored, ""}},
	} {
		w := newWorld(t, respond(200, "text/html", "<p>"))
		transport := newTransport(c.options, names.dial)
		t.Cleanup(transport.CloseIdleConnections)
		w.Transport = transport
		b := w.batch("")
		b.Targets[0].URL = strings.Replace(w.server.URL, "127.0.0.1", c.host, 1) + "/"
		if got := ends(w.run(t, b)); got[0] != c.want {
			t.Errorf("%s: %v, want %v", c.host, got[0], c.want)
		}
	}
}

// TestRedirectToMetadata: an address that may not be asked is refused like any
// other when the redirect is followed, in a batch of its own.
func TestRedirectToMetadata(t *testing.T) {
	asked := false
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(inside.Close)
	w := newWorld(t, http.RedirectHandler(inside.URL, http.StatusFound))
	links := w.run(t, w.batch("/")).Ledger.Links
	if len(links) != 1 || links[0].Kind != book.Redirect || asked {
		t.Fatalf("links %+v, asked at once: %t", links, asked)
	}
	w.Transport = Transport(Options{})
	b := w.batch("")
	b.Version.Token++
	b.Targets[0].URL = links[0].Target
	if got := ends(w.run(t, b)); got[0] != (end{book.Failed, "address refused"}) || asked {
		t.Errorf("the redirect ends as %v, asked: %t", got[0], asked)
	}
}

func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	if Transport(Options{}).Proxy != nil {
		t.Error("a proxy of the environment would be asked")
	}
}
