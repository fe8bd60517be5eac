package pack

import (
	"context"
	"errors"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// lastOf returns the last final outcomes of pages that the frontier calls
// stored and that links lead to, which are these targets. The spool comes first: what is packed in between is in the books.
func (f *Function) lastOf(ctx context.Context, s *settings.Settings, front *frontier.Frontier, entries []frontier.Entry, targets map[string]address.Address) (map[layout.Identity]*book.Outcome, error) {
	ids := make([]layout.Identity, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	decided, err := front.Decided(ctx, ids)
	if err != nil {
		return nil, err
	}
	byStorage := make(map[layout.Partition]map[layout.Identity]address.Address)
	for _, e := range entries {
		if _, found := decided[e.ID]; !found {
			continue
		}
		at := targets[e.URL]
		for _, p := range s.Holding(at) {
			if byStorage[p] == nil {
				byStorage[p] = make(map[layout.Identity]address.Address)
			}
			byStorage[p][at.ID] = at
		}
	}
	last := make(map[layout.Identity]*book.Outcome, len(decided))
	for p, pages := range byStorage {
		if err := f.spooledLooks(ctx, p, pages, decided, last); err != nil {
			return nil, err
		}
	}
	packed := make(map[layout.Identity]book.Standing)
	for p, pages := range byStorage {
		wanted, sites := make(map[layout.Identity]bool), make(map[uint32]bool)
		for id, at := range pages {
			if last[id] == nil {
				wanted[id], sites[at.Place.Site()] = true, true
			}
		}
		if len(wanted) == 0 {
			continue
		}
		if err := f.lastLooks(ctx, p, sites, wanted, packed); err != nil {
			return nil, err
		}
	}
	for id, standing := range packed {
		last[id] = standing.Final
	}
	return last, nil
}

// spooledLooks adds the outcomes of pages from the batches that decided, as far
// as their spool objects are still there.
func (f *Function) spooledLooks(ctx context.Context, p layout.Partition, pages map[layout.Identity]address.Address, decided map[layout.Identity]layout.Version, last map[layout.Identity]*book.Outcome) error {
	read := make(map[layout.Version]bool)
	for id := range pages {
		by := decided[id]
		if read[by] {
			continue
		}
		read[by] = true
		ledger, err := spool.ReadLedger(ctx, f.Bucket, layout.SpoolKey(p, by))
		switch {
		case errors.Is(err, blob.ErrAbsent), errors.Is(err, spool.ErrDamaged):
			continue
		case err != nil:
			return err
		}
		for i := range ledger.Outcomes {
			o := &ledger.Outcomes[i]
			if id := o.Identity(); decided[id] == by {
				last[id] = o
			}
		}
	}
	return nil
}
