package segments

import (
	"context"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// Gone returns the pages that are gone by the books of a generation, or of
// partitions elsewhere to which pages of it have moved, and that stand in its
// packages or are on its list. A commit that has packages indexed
// once more lists them, or else they would be found again; so does one that
// cannot tell which documents are dead. It reads the outcomes of all books, and
// of every package its end. None of the pages is called masked.
func Gone(ctx context.Context, bucket blob.Reader, m *manifest.Manifest, elsewhere []layout.Partition) ([]manifest.Gone, error) {
	listed := m.Books
	for _, id := range elsewhere {
		other, err := manifest.Read(ctx, bucket, id)
		if err != nil {
			return nil, err
		}
		listed = slices.Concat(listed, other.Books)
	}
	gone, err := goneByBooks(ctx, bucket, listed)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	needed := manifest.Manifest{}
	need := func(id layout.Identity) {
		if version, found := gone[id]; found {
			needed.Gone = append(needed.Gone, manifest.Gone{ID: id, Version: version})
		}
	}
	for _, listed := range m.Gone {
		need(listed.ID)
	}
	const parallel = 8
	var mu sync.Mutex // protects needed
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, pkg := range m.Packages {
		group.Go(func() error {
			pages, err := webobject.List(within, bucket, pkg.Key)
			if errors.Is(err, webobject.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
				return nil // nobody can index it
			}
			mu.Lock()
			defer mu.Unlock()
			for _, page := range pages {
				need(layout.IdentityOf(page.URL))
			}
			return err
		})
	}
	err = group.Wait()
	needed.AddGone()
	return needed.Gone, err
}

// goneByBooks returns all pages that are gone, and since which version.
func goneByBooks(ctx context.Context, bucket blob.Reader, listed []manifest.Book) (map[layout.Identity]layout.Version, error) {
	books, err := partition.OpenBooks(ctx, bucket, listed)
	if err != nil {
		return nil, err
	}
	gone := make(map[layout.Identity]layout.Version)
	for s, err := range books.Standings(ctx) {
		if err != nil {
			return nil, err
		}
		if s.Gone() {
			gone[s.Final.Identity()] = s.Final.Version
		}
	}
	return gone, nil
}
