package erase

import (
	"context"
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/sweep/compact"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/forget"
)

// cleanBook writes a book anew without the outcomes and links of URLs that takedowns forget, and
// commits the change. It returns the key of the new book, and the sites of the URLs to which these outcomes and
// links belonged. If the book had none of them, it returns the key of the old book.
//
// If a forgotten URL is not at the place that takedowns know, the first call that finds this commits nothing: it returns
// errMore, and from then on all books are searched for links everywhere, also those that counted as clean.
func (e *Eraser) cleanBook(ctx context.Context, listed manifest.Book, clean *cleanKeys) (key string, erased map[uint32]bool, err error) {
	opened, err := book.Open(ctx, e.Bucket, listed.Key)
	if err != nil {
		return "", nil, err
	}
	left, err := forget.Erase(ctx, opened, e.Takedowns, clean.searchesEverywhere())
	if err != nil || left == nil {
		return listed.Key, nil, err
	}
	if left.Elsewhere {
		clean.searchEverywhere()
		return "", nil, errMore
	}
	key, err = compact.Replace(ctx, e.Partition, []manifest.Book{listed}, left.Content, left.Outcomes, left.Links)
	if err == nil {
		e.Log.InfoContext(ctx, "erased from a book", "partition", e.ID(), "generation", e.Manifest().Generation, "book", listed.Key, "now", key)
	}
	return key, left.Sites, err
}

// dirtyPackages returns the packages with pages that takedowns forget. It also returns packages
// that cannot be read. It records the keys of all other packages in the parameter clean. It reads
// only the list of pages in each package, eight packages at a time.
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

// cleanPackage writes a package anew without the pages that takedowns forget, and commits the
// change. The remaining pages keep their offsets, so that segments still point to them.
// cleanPackage returns the key of the new package: "" if no page remains, or the old key if no page
// is forgotten.
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

// unlessStale returns nil for partition.ErrStale, and any other err unchanged. ErrStale means that
// the manifest no longer lists the object: the next round checks the object that has replaced it.
func unlessStale(err error) error {
	if errors.Is(err, partition.ErrStale) {
		return nil
	}
	return err
}

// cleanSegment searches a segment for documents whose URLs takedowns forget. If there are none, it
// returns the segment's key. Otherwise it masks these documents (marks them as dead), sends the
// function merge a task to write the segment anew without its dead documents, and returns "".
func (e *Eraser) cleanSegment(ctx context.Context, listed manifest.Segment) (key string, err error) {
	opened, err := partition.OpenToFind(ctx, segment.Ranges{Bucket: e.Bucket}, &listed)
	if err != nil {
		return "", err
	}
	forgotten, err := segments.Forgotten(ctx, opened, e.Takedowns)
	if err != nil || forgotten.IsEmpty() {
		return listed.Key, err
	}
	err = e.Commit(ctx, func(edit *partition.Edit) error {
		for _, s := range edit.Manifest().Segments {
			if s.Key != listed.Key || s.Erase {
				continue
			}
			dead, err := partition.Dead(ctx, e.Bucket, &s)
			if err != nil {
				return err
			}
			dead.Or(forgotten)
			edit.RewriteSegment(s.Key)
			return edit.Mask(ctx, map[string]*roaring.Bitmap{s.Key: dead})
		}
		return partition.ErrUnchanged
	})
	if err != nil {
		return "", err
	}
	e.Log.InfoContext(ctx, "a segment holds forgotten documents, and is written anew", "partition", e.ID(), "generation", e.Manifest().Generation,
		"segment", listed.Key, "documents", forgotten.GetCardinality())
	return "", task.Send(ctx, e.Sender, task.Merge, task.Tiers{Storage: e.ID()}, 0)
}
