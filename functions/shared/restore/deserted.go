package restore

import (
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// brokenLeads finds, in one pass over books, URLs that lead by a redirect or a
// canonical address to pages which have failed since. In memory are the outcomes
// of those that lead, and the versions of what has failed. A page of another
// storage partition is not seen; a rebuild sees all.
type brokenLeads struct {
	failed map[layout.Identity]book.Standing
	lead   []book.Outcome
	to     [][]layout.Identity // where each of these leads
}

func (d *brokenLeads) see(s *settings.Settings, of book.Standing) {
	last := *of.Final
	switch {
	case last.State == book.Failed:
		if d.failed == nil {
			d.failed = make(map[layout.Identity]book.Standing)
		}
		d.failed[last.Identity()] = book.Standing{Final: &book.Outcome{State: last.State, Version: last.Version}}
	case membership.LeadsTo(last) != "":
		d.lead, d.to = append(d.lead, last), append(d.to, s.LedTo(last))
	}
}

// all returns the outcomes of those that lead nowhere.
func (d *brokenLeads) all() (all []book.Outcome) {
	for i, last := range d.lead {
		for _, id := range d.to[i] {
			if account.Deserts(d.failed[id], last) {
				all = append(all, last)
				break
			}
		}
	}
	return all
}
