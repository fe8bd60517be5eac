package restore

import (
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// failedTargets finds the redirects and aliases whose destination has failed since the last request
// for them, in one pass over the books of a storage partition. It finds only destinations in the
// same storage partition; a rebuild finds all.
type failedTargets struct {
	failed map[layout.Identity]book.Standing // final outcomes of failed pages, with only state and version set
	lead   []book.Outcome                    // last final outcomes of URLs that are redirects or aliases
	to     [][]layout.Identity               // for each outcome in lead, the identities of the URLs to which it leads
}

func (d *failedTargets) see(s *settings.Settings, of book.Standing) {
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

// all returns the last outcomes of the redirects and aliases whose destination has failed since the
// last request for them.
func (d *failedTargets) all() (all []book.Outcome) {
	for i, last := range d.lead {
		for _, id := range d.to[i] {
			if account.FailedSince(d.failed[id], last) {
				all = append(all, last)
				break
			}
		}
	}
	return all
}
