package frontier

import (
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/run"
)

// Known is a URL with a final state, to be entered in a frontier by Mark.
type Known struct {
	ID      layout.Identity
	Place   layout.Place   // of the URL
	Version layout.Version // version of the batch with the final outcome
	State   book.State     // Stored, Unchanged, Skipped or Failed
	Tallies []string       // names of the tallies (counts of stored URLs) that include the URL while it is stored
}

// Mark sets the final states of URLs while a frontier is rebuilt; at other times Settle sets
// them. A URL that has a final state of the same or a higher version keeps it. Mark may be
// called before Open.
func (f *Frontier) Mark(ctx context.Context, known []Known) error {
	for part := range slices.Chunk(known, chunk) {
		args, urls := make([]any, 0, 2*len(part)), make([]run.URL, 0, len(part))
		for _, k := range part {
			name, err := named(k.Place, k.ID)
			if err != nil {
				return f.failed("mark in", err)
			}
			value, final := finalState(k.State, k.Version, name.Site, k.Tallies)
			if !final {
				return f.failed("mark in", fmt.Errorf("%s: state %q is not final", k.ID, k.State))
			}
			args, urls = append(args, string(k.ID[:]), value), append(urls, name)
		}
		if err := f.over(ctx, always(urls), markScript, args...).Err(); err != nil {
			return f.failed("mark in", err)
		}
	}
	return nil
}
