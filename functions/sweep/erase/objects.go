package erase

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/sweep/compact"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/forget"
)

// cleanBook has a book say nothing of what is forgotten, and returns the key
// of the one that does not.
func (e *Eraser) cleanBook(ctx context.Context, listed manifest.Book) (key string, err error) {
	opened, err := book.Open(ctx, e.Bucket, listed.Key)
	if err != nil {
		return "", err
	}
	filter := forget.New(e.Takedowns)
	clean, err := isClean(ctx, opened, filter)
	if err != nil || clean {
		return listed.Key, err
	}
	key, err = compact.Rewrite(ctx, e.Bucket, e.Partition, []manifest.Book{listed}, book.Filter{Outcome: filter.Outcome, Link: filter.Link})
	if err == nil {
		e.Log.InfoContext(ctx, "erased from a book", "partition", e.ID(), "generation", e.Manifest().Generation, "book", listed.Key, "now", key)
	}
	return key, err
}

// isClean shows all outcomes of a book to the filter, and reports whether it
// would keep the book as it is.
func isClean(ctx context.Context, b *book.Reader, filter *forget.Filter) (bool, error) {
	clean := true
	for o, err := range b.Outcomes(ctx, layout.Range{}) {
		if err != nil {
			return false, err
		}
		if !filter.See(o) {
			clean = false
		}
	}
	if !clean {
		return false, nil
	}
	for l, err := range b.Links(ctx, layout.Range{}) {
		if err != nil {
			return false, err
		}
		if !filter.Link(&l) {
			return false, nil
		}
	}
	return true, nil
}

// dirtyPackages returns the packages that hold forgotten pages, as their
// descriptions tell, and calls the others clean. One that cannot be read is
// among them.
func (e *Eraser) dirtyPackages(ctx context.Context, packages []manifest.Package, clean *cleanKeys) ([]manifest.Package, error) {
	const parallel = 8
	holds := make([]bool, len(packages))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, listed := range packages {
		if clean.has(listed.Key) {
			continue
		}
		group.Go(func() error {
			pages, err := webobject.List(within, e.Bucket, listed.Key)
			if errors.Is(err, blob.ErrRetryable) || within.Err() != nil {
				return err
			}
			holds[i] = err != nil || slices.ContainsFunc(pages, e.isForgotten)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var dirty []manifest.Package
	for i, listed := range packages {
		if holds[i] {
			dirty = append(dirty, listed)
		} else {
			clean.add(listed.Key)
		}
	}
	return dirty, nil
}

func (e *Eraser) isForgotten(page webobject.Listed) bool {
	return e.Takedowns.ForgetsURL(page.URL)
}

// cleanPackage erases the forgotten pages of a package, and returns the key of
// the one that holds them no more, "" when nothing is left. All other pages keep
// their places, so that what is indexed of it stays right.
func (e *Eraser) cleanPackage(ctx context.Context, listed manifest.Package) (key string, err error) {
	content, err := e.Bucket.Get(ctx, listed.Key, blob.Range{})
	if err != nil {
		return "", err
	}
	rewritten, erased, err := webobject.Erase(content, e.isForgotten)
	if err != nil || erased == 0 {
		return listed.Key, err
	}
	if erased == listed.Pages {
		return "", unlessStale(e.Commit(ctx, func(edit *partition.Edit) error { return edit.DropPackage(ctx, listed.Key) }))
	}
	_, name, err := layout.ParsePackageKey(listed.Key)
	if err != nil {
		return "", err
	}
	name.Collision++
	left, err := e.PutPackage(ctx, name, rewritten, listed.Pages-erased)
	if err != nil {
		return "", err
	}
	err = unlessStale(e.Commit(ctx, func(edit *partition.Edit) error { return edit.ReplacePackage(listed.Key, left) }))
	if err != nil {
		return "", err
	}
	e.Log.InfoContext(ctx, "erased from a package", "partition", e.ID(), "generation", e.Manifest().Generation, "package", listed.Key, "now", left.Key, "pages", erased)
	return left.Key, nil
}

// unlessStale leaves to the next run what has changed meanwhile.
func unlessStale(err error) error {
	if errors.Is(err, partition.ErrStale) {
		return nil
	}
	return err
}
