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

// Uncommitted is a book that no generation lists, with those of its batches whose spool objects
// (all that was fetched) still exist. Either the book was never committed, or the generation that
// listed it is lost. In both cases the batches will be packed again.
type Uncommitted struct {
	Key     string
	Batches []layout.Version
}

// FindUncommitted returns the books of a partition that no generation lists, and that are no loss:
// some batch of the book still has its spool object (all that was fetched), and so will be packed
// again into another book. FindUncommitted lists the keys of all books. It reads those books that
// the newest generation of the manifest neither lists nor condemns.
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

// waiting reads a book, and returns those of its batches that wait to be packed: the newest
// generation has neither consumed nor closed the batch, and the batch's spool object exists.
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
