package pack

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/forget"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// settingsFor returns settings that forget no less than the partition does:
// those at hand may be older.
func (f *Function) settingsFor(ctx context.Context, m *manifest.Manifest) (*settings.Settings, error) {
	s, err := f.Settings.Get(ctx)
	if err == nil && s.Takedowns.Version < m.Forgotten {
		s, err = f.Settings.Renew(ctx)
	}
	return s, err
}

// withoutForgotten takes pages, outcomes and links that are forgotten out of
// spool objects. One that holds nothing else is consumed all the same.
func withoutForgotten(spools []spool.Spool, set takedown.Set) {
	if set.Empty() {
		return
	}
	filter := forget.New(set)
	for i := range spools {
		for _, o := range spools[i].Ledger.Outcomes {
			filter.See(o)
		}
	}
	for i := range spools {
		strip(&spools[i], filter)
	}
}

func strip(s *spool.Spool, filter *forget.Filter) {
	var outcomes []book.Outcome
	moved := make(map[int]int, len(s.Ledger.Outcomes))
	for i, o := range s.Ledger.Outcomes {
		if filter.Outcome(&o) {
			moved[i] = len(outcomes)
			outcomes = append(outcomes, o)
		}
	}
	s.Pages = slices.DeleteFunc(s.Pages, func(p spool.Page) bool { _, kept := moved[p.Outcome]; return !kept })
	for i := range s.Pages {
		s.Pages[i].Outcome = moved[s.Pages[i].Outcome]
	}
	s.Ledger.Outcomes = outcomes
	s.Ledger.Links = slices.DeleteFunc(s.Ledger.Links, func(l book.Link) bool { return !filter.Link(&l) })
}
