package search

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Lookup returns the latest document of a URL, and false if there is none. It reads
// the identities of all segments at once, and then one document.
func (ix *Index) Lookup(ctx context.Context, id layout.Identity) (segment.Document, bool, error) {
	s := &search{ix: ix, gathered: newGathered(ix.parts)}
	at := make([]int, len(ix.parts))
	err := s.each(without(ctx), func(ctx context.Context, part int) error {
		p := ix.parts[part]
		identities, err := p.Segment.Identities(ctx)
		at[part] = slices.IndexFunc(identities, func(other layout.Identity) bool { return other == id })
		for at[part] >= 0 && p.Dead != nil && p.Dead.ContainsInt(at[part]) { // a later version may be there
			next := slices.Index(identities[at[part]+1:], id)
			if next >= 0 {
				next += at[part] + 1
			}
			at[part] = next
		}
		return err
	})
	if err != nil {
		return segment.Document{}, false, err
	}
	var matches []found // one, or two while two partitions have a version
	for part, doc := range at {
		if doc >= 0 {
			matches = append(matches, found{part: int32(part), doc: uint32(doc)})
		}
	}
	if err := s.fetch(ctx, matches); err != nil || len(matches) == 0 {
		return segment.Document{}, false, err
	}
	return *s.document(s.latest(matches)[0]), true, nil
}
