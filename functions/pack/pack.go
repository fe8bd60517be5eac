package pack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// parallelReads is how many spool objects are read at once.
const parallelReads = 8

// errAgain says that what a commit was made for holds no longer: some of the
// batches were consumed by another pack, are damaged or closed, more is
// forgotten, a key is condemned, or it took too long.
var errAgain = errors.New("batches were consumed while they were packed")

// packAll makes packages and a book of the batches and commits them, and takes
// them out of the inbox. When some of them are consumed meanwhile, it begins
// again with the rest.
func (f *Function) packAll(ctx context.Context, p layout.Partition, waiting []frontier.Waiting) error {
	batches := batchesOf(waiting)
	for {
		current, err := manifest.Read(ctx, f.Bucket, p)
		if err != nil {
			return err
		}
		err = f.packRest(ctx, &current, slices.DeleteFunc(slices.Clone(batches), func(batch layout.Version) bool {
			return current.HasConsumed(batch) || current.IsClosed(batch)
		}))
		if errors.Is(err, errAgain) {
			continue
		}
		if err == nil && slices.ContainsFunc(waiting, func(w frontier.Waiting) bool { return lost(&current, w) }) {
			err = f.distrust(ctx)
		}
		if err != nil {
			return err
		}
		return frontier.NewInbox(f.Redis, p).Remove(ctx, batches)
	}
}

// packRest packs batches that the current generation has neither consumed nor
// closed.
func (f *Function) packRest(ctx context.Context, current *manifest.Manifest, batches []layout.Version) error {
	began, p := f.Now(), current.Partition
	spools, err := f.readSpools(ctx, p, batches)
	if err != nil || len(spools) == 0 {
		return err
	}
	inForce, err := f.settingsFor(ctx, current)
	if err != nil {
		return err
	}
	withoutForgotten(spools, inForce.Takedowns)
	packages, err := f.putPackages(ctx, current, spools)
	if err != nil {
		return err
	}
	listed, err := f.putBook(ctx, current, inForce, spools)
	if err != nil {
		return err
	}
	var packed []layout.Version
	outcomes := 0
	for i := range spools {
		packed = append(packed, spools[i].Ledger.Batch)
		outcomes += len(spools[i].Ledger.Outcomes)
	}
	gone := gonePages(spools)
	m, err := f.commit(ctx, p, inForce, began, packed, packages, listed, gone)
	if err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "packed", "partition", p, "generation", m.Generation, "batches", len(spools),
		"packages", len(packages), "outcomes", outcomes, "took", f.Now().Sub(began))
	if err := f.mask(ctx, p, gone); err != nil {
		return err
	}
	return f.raise(ctx, packages)
}

// readSpools reads spool objects in parallel. One that is gone has been packed
// and deleted; one that is damaged goes to quarantine, with errAgain.
func (f *Function) readSpools(ctx context.Context, p layout.Partition, batches []layout.Version) ([]spool.Spool, error) {
	read := make([]*spool.Spool, len(batches))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for i, batch := range batches {
		group.Go(func() error {
			key := layout.SpoolKey(p, batch)
			content, err := spool.Read(ctx, f.Bucket, key)
			switch {
			case errors.Is(err, blob.ErrAbsent):
				return nil
			case errors.Is(err, spool.ErrDamaged):
				return cmp.Or(f.quarantine(ctx, p, batch, err), errAgain)
			case err != nil:
				return fmt.Errorf("cannot pack batch %s: %w", batch, err)
			}
			read[i] = &content
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var spools []spool.Spool
	for _, s := range read {
		if s != nil {
			spools = append(spools, *s)
		}
	}
	return spools, nil
}

// putPackages puts a package per expiry class and writes the place of every
// page into its outcome.
func (f *Function) putPackages(ctx context.Context, current *manifest.Manifest, spools []spool.Spool) ([]manifest.Package, error) {
	var listed []manifest.Package
	for _, c := range classes(spools) {
		content, places, err := c.pkg.Build()
		if err != nil {
			return nil, fmt.Errorf("cannot build package of partition %s: %w", current.Partition, err)
		}
		key, err := f.putPackage(ctx, current, c.pkg, content)
		if err != nil {
			return nil, err
		}
		for i, outcome := range c.outcomes {
			outcome.Package, outcome.Offset, outcome.Length = key, places[i].Offset, places[i].Length
		}
		listed = append(listed, manifest.Package{Key: key, Bytes: int64(len(content)), Pages: len(places)})
	}
	return listed, nil
}

// putPackage puts a package under its name, with a number when another
// package has it or had it.
func (f *Function) putPackage(ctx context.Context, current *manifest.Manifest, pkg webobject.Package, content []byte) (string, error) {
	name := layout.PackageName{Base: pkg.Base, Exponent: pkg.Exponent, Created: pkg.Created}
	for ; ; name.Collision++ {
		key := layout.PackageKey(current.Partition, name)
		if taken(current, key) {
			continue
		}
		err := blob.CreateOnce(ctx, f.Bucket, key, content)
		if err == nil {
			return key, nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return "", fmt.Errorf("cannot put package %s: %w", key, err)
		}
	}
}

// putBook puts what the spool objects say, once all pages have a place, and
// returns nil if that is nothing. It puts another copy when the book's key is
// condemned, or the bytes there are damaged.
func (f *Function) putBook(ctx context.Context, current *manifest.Manifest, s *settings.Settings, spools []spool.Spool) (*manifest.Book, error) {
	outcomes, links := 0, 0
	for i := range spools {
		outcomes, links = outcomes+len(spools[i].Ledger.Outcomes), links+len(spools[i].Ledger.Links)
	}
	learnt := book.Book{Outcomes: make([]book.Outcome, 0, outcomes), Links: make([]book.Link, 0, links)}
	for i := range spools {
		learnt.Outcomes = append(learnt.Outcomes, spools[i].Ledger.Outcomes...)
		learnt.Links = append(learnt.Links, spools[i].Ledger.Links...)
	}
	if len(learnt.Outcomes)+len(learnt.Links) == 0 {
		return nil, nil
	}
	_, decided, err := decide(s, learnt.Links, learnt.Outcomes)
	if err != nil {
		return nil, err
	}
	learnt.Links = slices.DeleteFunc(decided, func(l book.Link) bool { return l.Decision == settings.Forgotten })
	for i := range learnt.Links { // known to the frontier by now; alike links share a row
		learnt.Links[i].Modified = time.Time{}
	}
	content, err := book.Encode(learnt)
	if err != nil {
		return nil, fmt.Errorf("cannot write book of partition %s: %w", current.Partition, err)
	}
	for number := uint32(1); ; number++ {
		key := layout.BookKey(current.Partition, layout.ContentHash(content))
		if !taken(current, key) {
			err := blob.CreateOnce(ctx, f.Bucket, key, content)
			if err == nil {
				return &manifest.Book{Key: key, Bytes: int64(len(content)), Outcomes: len(learnt.Outcomes), Links: len(learnt.Links)}, nil
			}
			if !errors.Is(err, blob.ErrExists) {
				return nil, fmt.Errorf("cannot put book %s: %w", key, err)
			}
		}
		content = book.Distinct(content, number)
	}
}
