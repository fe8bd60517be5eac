package restore

import (
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// failedTargets finds redirects and aliases that must be requested again, because the URL to which
// they lead has failed after their own last request. It sees the outcomes of requests in one pass
// over the books of a storage partition. So it does not notice a failure that is in the books of
// another partition. A rebuild of the frontiers, which reads all books, finds these redirects and
// aliases, too.
type failedTargets struct {
	// for each URL whose last request failed, its outcome (the record of this request); only the
	// fields State and Version are set
	failed map[layout.Identity]book.Standing
	lead   []book.Outcome // final outcome (record of the last request) of each URL that is a redirect or alias
	// to[i] has the identities (hashes) of the destinations of the i-th URL in the field lead
	to [][]layout.Identity
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

// all returns the final outcomes (records of the last requests) of those redirects and aliases
// whose destination has failed since then.
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
