package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/functions/query/limit"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/query/web"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/functions/shared/leaf"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// serving holds the flags of the commands up and query, which serve the search page.
type serving struct {
	address             string
	rate                float64  // how often a client may ask
	proxies             []string // whose header names the clients
	title, logo, colour string   // how the search page looks
}

func (s *serving) flags(flags *pflag.FlagSet) {
	flags.StringVar(&s.address, "listen", "127.0.0.1:8080", "`address` of the search page")
	s.rate = 20
	amountVar(flags, &s.rate, "rate", "`requests` a second of one address, and three times as many at\nonce; 0: no limit. This machine has none")
	flags.StringArrayVar(&s.proxies, "proxy", nil, "`address` or network of a proxy, such as 10.0.0.0/8, whose header\nX-Forwarded-For names the clients; may be repeated")
	flags.StringVar(&s.title, "title", "", "call the search page so, instead of Bucketsearch: `text`")
	flags.StringVar(&s.logo, "logo", "", "show the image in this `file` beside the title: PNG, JPEG, GIF,\nWebP or SVG")
	flags.StringVar(&s.colour, "colour", "", "`colour` of buttons and links, such as '#2457c5'; made darker or\nlighter where it would be hard to read")
}

// options returns how the search page answers and looks, by the flags and by the environment variables
// BUCKETSEARCH_JUDGES, BUCKETSEARCH_CLICKS, BUCKETSEARCH_LEAVES and BUCKETSEARCH_LEAF_KEY. The parameter age is
// PageOptions.Age.
func (s *serving) options(age time.Duration) (o system.PageOptions, err error) {
	o.Age = age
	if o.Judges, err = judgment.ParseKeys(os.Getenv("BUCKETSEARCH_JUDGES")); err != nil {
		return o, fmt.Errorf("BUCKETSEARCH_JUDGES: %w", err)
	}
	if o.Clicks, err = judgment.ParseClickKey(os.Getenv("BUCKETSEARCH_CLICKS")); err != nil {
		return o, fmt.Errorf("BUCKETSEARCH_CLICKS: %w", err)
	}
	if o.Leaves, err = leaf.Parse(os.Getenv("BUCKETSEARCH_LEAVES"), os.Getenv("BUCKETSEARCH_LEAF_KEY")); err != nil {
		return o, err
	}
	if o.Limits, err = s.limits(); err != nil {
		return o, err
	}
	o.Brand, err = s.brand()
	return o, err
}

// listen listens at the address of the flag --listen.
func (s *serving) listen() (net.Listener, error) {
	if _, _, err := net.SplitHostPort(s.address); err != nil {
		return nil, misuse(literal.Wrong("--listen", s.address, "an address and a port, such as 127.0.0.1:8080"))
	}
	listener, err := net.Listen("tcp", s.address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("cannot serve the search page: another program serves at %s; choose another address, such as --listen 127.0.0.1:8081", s.address)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot serve the search page: %w; choose another address by --listen", err)
	}
	return listener, nil
}

// limits returns the limits for clients that the flags --rate and --proxy say.
func (s *serving) limits() (limit.Options, error) {
	o := limit.Options{Rate: s.rate}
	for _, text := range s.proxies {
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

// brand returns how the search page looks, as the flags --title, --logo and --colour say. It reads the file of the logo.
func (s *serving) brand() (brand web.Brand, err error) {
	if brand.Name, err = web.ParseName(s.title); err != nil {
		return brand, fmt.Errorf("--title: %w", err)
	}
	if s.colour != "" {
		colour, err := web.ParseColour(s.colour)
		if err != nil {
			return brand, fmt.Errorf("--colour: %w", err)
		}
		brand.Colour = &colour
	}
	if s.logo != "" {
		content, err := readAtMost(s.logo, web.MaxLogo)
		if err == nil {
			brand.Logo, err = web.ParseLogo(content)
		}
		if err != nil {
			return brand, fmt.Errorf("--logo %s: %w", s.logo, err)
		}
	}
	return brand, nil
}

// handlerFor returns a handler that serves page, for a server that listens at the given address.
// If this is a loopback address, the handler refuses requests whose Host header is neither a
// loopback address nor localhost. So a web site in the user's browser cannot read the stored
// pages by letting its own name resolve to loopback (DNS rebinding).
func handlerFor(listening net.Addr, page http.Handler) http.Handler {
	if !request.IsLoopback(listening.String()) {
		return page
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !request.IsLoopback(r.Host) {
			http.Error(w, "This page is served to this machine only; open it by its address.", http.StatusMisdirectedRequest)
			return
		}
		page.ServeHTTP(w, r)
	})
}
