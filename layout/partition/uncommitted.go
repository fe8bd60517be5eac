package partition

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Uncommitted is a book that no generation lists, with those of its batches that are
// still in the spool. Either the book was never committed, or the generation that listed
// it is lost. In both cases the batches will be packed again.
type Uncommitted struct {
	Key     string
	Batches []layout.Version
}

// FindUncommitted returns each book of a partition that no generation lists and that has outcomes
// of batches that are still in the spool. Such books are no evidence of a loss (see Lost).
// FindUncommitted sends LIST requests for the books, and reads the books that newest neither lists
// nor condemns.
func FindUncommitted(ctx context.Context, bucket blob.Reader, newest manifest.Manifest) (found []Uncommitted, err error) {
	s := search{bucket: bucket, newest: newest}
	err = s.eachUnlisted(ctx, layout.Books, func(key string) error {
		batches, err := s.waiting(ctx, key)
		if len(batches) > 0 {
			found = append(found, Uncommitted{key, batches})
		}
		if errors.Is(err, book.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot tell what of partition %s was put and not committed: %w", newest.Partition, err)
	}
	return found, nil
}

// waiting returns those batches of the book with the key that are still to be packed: newest
// has neither consumed nor closed them, and their spool objects exist.
func (s *search) waiting(ctx context.Context, key string) (batches []layout.Version, err error) {
	opened, err := book.Open(ctx, s.bucket, key)
	if err != nil {
		return nil, err
	}
	seen := make(map[layout.Version]bool)
	for o, err := range opened.Outcomes(ctx, layout.Range{}) {
		if err != nil {
			return batches, err
		}
		v := o.Version
		if seen[v] || s.newest.HasConsumed(v) || s.newest.IsClosed(v) {
			continue
		}
		seen[v] = true
		_, err := s.bucket.Head(ctx, layout.SpoolKey(s.newest.Partition, v))
		switch {
		case err == nil:
			batches = append(batches, v)
		case !errors.Is(err, blob.ErrAbsent):
			return batches, err
		}
	}
	return batches, nil
}
