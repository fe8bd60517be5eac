package main

import (
	"net/netip"

	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/functions/query/limit"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// visitors holds the flags --rate and --proxy of the commands up and query, which limit how often clients of the
// search page may ask.
type visitors struct {
	rate    float64
	proxies []string
}

func (v *visitors) flags(f *pflag.FlagSet) {
	v.rate = 20
	amountVar(f, &v.rate, "rate", "`requests` a second of one address, and three times as many at\nonce; 0: no limit. This machine has none")
	f.StringArrayVar(&v.proxies, "proxy", nil, "`address` or network of a proxy, such as 10.0.0.0/8, whose header\nX-Forwarded-For names the clients; may be repeated")
}

// limits returns the limits that the flags say.
func (v *visitors) limits() (limit.Options, error) {
	o := limit.Options{Rate: v.rate}
	for _, text := range v.proxies {
		network, err := netip.ParsePrefix(text)
		if alone, problem := netip.ParseAddr(text); problem == nil {
			network, err = alone.Prefix(alone.BitLen())
		}
		if err != nil {
			return limit.Options{}, misuse(literal.Wrong("--proxy", text, "an IP address or a network, such as 127.0.0.1 or 10.0.0.0/8"))
		}
		o.Proxies = append(o.Proxies, network.Masked())
	}
	return o, nil
}
