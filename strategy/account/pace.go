package account

import (
	"iter"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Pace is the limits that a host sets for its requests, according to all outcomes of
// its URLs.
type Pace struct {
	book.Pace
	At address.Address // a URL of the host
}

// paces holds the pace of each host that has one. It is safe for concurrent use.
type paces struct {
	mu    sync.Mutex // protects hosts
	hosts map[string]paceOf
}

type paceOf struct {
	Pace
	last layout.Version // version of the outcome that Delay and Failures are from
}

// add takes the pace in an outcome of the URL at into account.
func (p *paces) add(at address.Address, o book.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, found := p.hosts[at.Host]
	next := paceOf{Pace{o.Pace, at}, o.Version}
	if found && o.Version.Compare(known.last) < 0 {
		next, known = known, next
	}
	if known.Rest.After(next.Rest) {
		next.Rest = known.Rest
	}
	if p.hosts == nil {
		p.hosts = make(map[string]paceOf)
	}
	p.hosts[at.Host] = next
}

// Paces yields the pace of each host that has one. Nothing may be added to the
// account meanwhile.
func (a *Account) Paces() iter.Seq[Pace] {
	return func(yield func(Pace) bool) {
		for _, p := range a.paces.hosts {
			if !yield(p.Pace) {
				return
			}
		}
	}
}
