package pack

import (
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// renewLacking has pages asked for again, on behalf of the collections of these
// entries, that are stored for others alone. What it cannot have asked for is
// missed until a rebuild: a page that waits again for another collection already,
// or of which nothing can be read, and what a collection wants that has a limit of
// pages, for which a rebuild counts them.
func (f *Function) renewLacking(ctx context.Context, s *settings.Settings, front *frontier.Frontier, entries []frontier.Entry, targets map[string]address.Address, lacking []layout.Identity) error {
	lacks := make(map[layout.Identity]bool, len(lacking))
	for _, id := range lacking {
		lacks[id] = true
	}
	var wanted []frontier.Entry
	missed := false
	for _, e := range entries {
		switch {
		case !lacks[e.ID]:
		case s.IsLimited(e.Collection):
			missed = true
		default:
			wanted = append(wanted, e)
		}
	}
	var due []frontier.Due
	if len(wanted) > 0 {
		last, err := f.lastOf(ctx, s, front, wanted, targets)
		if err != nil {
			return fmt.Errorf("cannot look up what other collections have: %w", err)
		}
		for _, e := range wanted {
			o := last[e.ID]
			switch {
			case o != nil && slices.Contains(o.Collections, e.Collection):
			case o == nil || o.State != book.Stored && o.State != book.Unchanged:
				missed = true
			default:
				e.Exponent, e.Last = o.Exponent, batch.LookOf(*o)
				due = append(due, frontier.Due{Entry: e, Version: o.Version})
			}
		}
	}
	renewed, err := front.Renew(ctx, f.Now(), due)
	if err == nil && (missed || renewed < len(due)) {
		err = front.Miss(ctx)
	}
	return err
}
