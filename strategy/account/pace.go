package account

import (
	"iter"
	"maps"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Pace says how often a host may get requests, by the outcomes of its URLs: the pause between
// requests, the number of failures in a row, and a time before which no request is sent.
type Pace struct {
	book.Pace
	At      address.Address // address of any one of the host's URLs
	Version layout.Version  // version of the outcome that Delay and Failures are from
}

// paces holds the Pace that is in force for each host, by the name of the host. It is safe for
// concurrent use.
type paces struct {
	mu    sync.Mutex // protects hosts
	hosts map[string]Pace
}

// add updates the pace of a host from the outcome o of one of its URLs. The parameter at is the
// address of this URL.
func (p *paces) add(at address.Address, o book.Outcome) { p.join(Pace{o.Pace, at, o.Version}) }

// join updates the pace of a host by another Pace of the same host, which was computed from other outcomes.
func (p *paces) join(next Pace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	host := next.At.Host
	known, found := p.hosts[host]
	if found && next.Version.Compare(known.Version) < 0 {
		next, known = known, next
	}
	if known.Rest.After(next.Rest) {
		next.Rest = known.Rest
	}
	if p.hosts == nil {
		p.hosts = make(map[string]Pace)
	}
	p.hosts[host] = next
}

func (p *paces) all() iter.Seq[Pace] { return maps.Values(p.hosts) }

// Paces yields the Pace that is in force for each host, by the outcomes in the account. Nothing may be
// added to the account meanwhile.
func (a *Account) Paces() iter.Seq[Pace] { return a.paces.all() }
