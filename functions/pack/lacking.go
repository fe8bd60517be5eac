package pack

import (
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// renewLacking has pages asked for again, on behalf of the collections of these
// entries, that are stored for others alone. What it cannot have asked for is
// missed until a rebuild: a page that waits again for another collection already,
// or of which nothing can be read, and what a collection wants that has a limit of
// pages, for which a rebuild counts them.
func (f *Function) renewLacking(ctx context.Context, s *settings.Settings, front *frontier.Frontier, entries []frontier.Entry, lacking []layout.Identity) error {
	if len(lacking) == 0 {
		return nil
	}
	last, err := f.lastOf(ctx, s, front, entries, lacking)
	if err != nil {
		return fmt.Errorf("cannot look up what other collections have: %w", err)
	}
	var due []frontier.Due
	missed := false
	for _, e := range entries {
		o := last[e.ID]
		switch {
		case o == nil || slices.Contains(o.Collections, e.Collection):
		case s.IsLimited(e.Collection) || o.State != book.Stored && o.State != book.Unchanged:
			missed = true
		default:
			e.Exponent, e.Last = o.Exponent, batch.LookOf(*o)
			due = append(due, frontier.Due{Entry: e, Version: o.Version})
		}
	}
	renewed, err := front.Renew(ctx, f.Now(), due)
	if err == nil && (missed || renewed < len(due) || len(last) < len(lacking)) {
		err = front.Miss(ctx)
	}
	return err
}
