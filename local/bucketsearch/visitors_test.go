package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/limit"
)

func TestVisitors(t *testing.T) {
	got, err := (&visitors{rate: 5, proxies: []string{"127.0.0.1", "10.1.0.0/8", "2001:db8::1"}}).limits()
	want := limit.Options{Rate: 5, Proxies: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128"),
	}}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for want, wrong := range map[string]visitors{
		`--proxy is "example.org"; write`: {proxies: []string{"example.org"}},
		`--proxy is "10.0.0.0/33"; write`: {proxies: []string{"10.0.0.0/33"}},
	} {
		if _, err := wrong.limits(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", wrong, err, want)
		}
	}
}
