package tests

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Two sites link to each other, one with only an IPv6 address, the other with only an IPv4
// address. Both are crawled, and each stored page has a record of the address from which it
// came.
func TestAddressFamilies(t *testing.T) {
	t.Parallel()
	var listeners []net.Listener
	addresses := []string{"127.0.0.1", "::1"}
	for _, address := range addresses {
		l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
		if err != nil {
			t.Fatalf("this machine cannot listen on %s: %v", address, err)
		}
		listeners = append(listeners, l)
	}
	s := serveOn(t, listeners, func(i int, origins []string) http.Handler {
		return host{
			"/":           {status: http.StatusOK, contentType: "text/html", body: "<title>Start</title><p>Here begins " + addresses[i] + ". " + link("inner.html") + link(origins[1-i]+"/far.html")},
			"/inner.html": {status: http.StatusOK, contentType: "text/html", body: "<title>Inner</title><p>A page."},
			"/far.html":   {status: http.StatusOK, contentType: "text/html", body: "<title>Far</title><p>A page that only the other site links to."},
		}
	})
	p := newPlace(t)
	p.crawl(s.origins...)
	p.verify()
	want, got := make(map[string]string), make(map[string]string)
	p.attach(func(ctx context.Context, a *system.Attached) {
		e, err := engine.New(a.Bucket, engine.Options{Settings: a.Settings, Now: time.Now, Age: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		for i, origin := range s.origins {
			for _, path := range []string{"/", "/inner.html", "/far.html"} {
				at, err := collection.ParseSeed(origin + path)
				if err != nil {
					t.Fatal(err)
				}
				page, err := e.Page(ctx, at, time.Time{})
				if err != nil {
					t.Fatal(err)
				}
				want[origin+path], got[origin+path] = netip.MustParseAddr(addresses[i]).String(), page.Address.String()
			}
		}
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses of the servers (-want +got):\n%s", diff)
	}
}
