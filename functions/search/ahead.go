package search

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// ahead returns what reads ahead of need, beside the positions of words that
// stand next to each other: the documents of a page as it is before these, and
// the identities of equal scores on both sides of its borders. Then another
// step is needed only for what these bring to the page. Nil if all is known.
func (s *search) ahead(best []found) func(ctx context.Context) error {
	page := s.page(best)
	var unread []int
	if groups, around := s.tied(best); s.areFew(around) {
		page = around
	} else {
		unread = s.unidentified(groups)
	}
	if len(s.recall(page)) == 0 && len(unread) == 0 {
		return nil
	}
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		fork := meter.NewFork(ctx)
		group.Go(func() error { return s.fetch(fork.Branch(), page) })
		for _, part := range unread {
			group.Go(func() error { return s.named(part, s.identify(fork.Branch(), part)) })
		}
		return group.Wait()
	}
}
