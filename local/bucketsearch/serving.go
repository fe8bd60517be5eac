package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/functions/shared/leaf"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// serving holds the flags of the commands up and query, which serve the search page.
type serving struct {
	address string
	clients visitors
	look    branding
}

func (s *serving) flags(flags *pflag.FlagSet) {
	flags.StringVar(&s.address, "listen", "127.0.0.1:8080", "`address` of the search page")
	s.clients.flags(flags)
	s.look.flags(flags)
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
	if o.Limits, err = s.clients.limits(); err != nil {
		return o, err
	}
	o.Brand, err = s.look.brand()
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
