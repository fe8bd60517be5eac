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
)

// parallelReads is how many spool objects are read at once.
const parallelReads = 8

// errAgain says that some of the batches were consumed meanwhile: by another
// pack, or because they are damaged.
var errAgain = errors.New("batches were consumed while they were packed")

// packAll makes packages and a book of the batches and commits them, and takes
// them out of the inbox. When some of them are consumed meanwhile, it begins
// again with the rest.
func (f *Function) packAll(ctx context.Context, p layout.Partition, batches []layout.Version) error {
	for {
		current, err := manifest.Read(ctx, f.Bucket, p)
		if err != nil {
			return err
		}
		rest := slices.DeleteFunc(slices.Clone(batches), current.HasConsumed)
		err = f.packRest(ctx, p, current.Generation, rest)
		if errors.Is(err, errAgain) {
			continue
		}
		if err == nil && anyDamaged(&current, batches) {
			err = f.distrust(ctx)
		}
		if err != nil {
			return err
		}
		return frontier.NewInbox(f.Redis, p).Remove(ctx, batches)
	}
}

// packRest packs batches that generation seen has not consumed. The sweep
// deletes a spool object before it forgets that the batch was consumed: one
// that still exists, and that the base of the commit does not call consumed,
// has not been packed, however long this took.
func (f *Function) packRest(ctx context.Context, p layout.Partition, seen uint64, batches []layout.Version) error {
	began := f.Now()
	spools, err := f.readSpools(ctx, p, batches)
	if err != nil || len(spools) == 0 {
		return err
	}
	inForce, err := f.Settings.Get(ctx)
	if err != nil {
		return err
	}
	var learnt book.Book
	for i := range spools {
		learnt.Links = append(learnt.Links, spools[i].Ledger.Links...)
	}
	if _, err := decide(inForce, learnt.Links); err != nil {
		return err
	}
	packages, err := f.putPackages(ctx, p, spools)
	if err != nil {
		return err
	}
	for i := range spools {
		learnt.Outcomes = append(learnt.Outcomes, spools[i].Ledger.Outcomes...)
	}
	listed, err := f.putBook(ctx, p, learnt)
	if err != nil {
		return err
	}
	m, err := manifest.Commit(ctx, f.Bucket, p, f.Now, func(m *manifest.Manifest) error {
		at := f.Now().UTC().Truncate(time.Millisecond)
		for i := range spools {
			batch := spools[i].Ledger.Batch
			if m.HasConsumed(batch) {
				return errAgain
			}
			if m.Generation != seen {
				_, err := f.Bucket.Head(ctx, layout.SpoolKey(p, batch))
				if errors.Is(err, blob.ErrAbsent) {
					return errAgain
				}
				if err != nil {
					return err
				}
			}
			m.Consumed = append(m.Consumed, manifest.Consumed{Batch: batch, At: at})
		}
		for _, listed := range packages {
			m.Add(listed)
		}
		m.Books = append(m.Books, listed)
		return nil
	})
	if err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "packed", "partition", p, "generation", m.Generation, "batches", len(spools),
		"packages", len(packages), "outcomes", len(learnt.Outcomes), "links", len(learnt.Links), "took", f.Now().Sub(began))
	return nil
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
func (f *Function) putPackages(ctx context.Context, p layout.Partition, spools []spool.Spool) ([]manifest.Package, error) {
	var listed []manifest.Package
	for _, c := range classes(spools) {
		content, places, err := c.pkg.Build()
		if err != nil {
			return nil, fmt.Errorf("cannot build package of partition %s: %w", p, err)
		}
		key, err := f.putPackage(ctx, p, c.pkg, content)
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
// package has it.
func (f *Function) putPackage(ctx context.Context, p layout.Partition, pkg webobject.Package, content []byte) (string, error) {
	name := layout.PackageName{Base: pkg.Base, Exponent: pkg.Exponent, Created: pkg.Created}
	for ; ; name.Collision++ {
		key := layout.PackageKey(p, name)
		err := blob.CreateOnce(ctx, f.Bucket, key, content)
		if err == nil {
			return key, nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return "", fmt.Errorf("cannot put package %s: %w", key, err)
		}
	}
}

func (f *Function) putBook(ctx context.Context, p layout.Partition, learnt book.Book) (manifest.Book, error) {
	content, err := book.Encode(learnt)
	if err != nil {
		return manifest.Book{}, fmt.Errorf("cannot write book of partition %s: %w", p, err)
	}
	key := layout.BookKey(p, layout.ContentHash(content))
	if err := blob.CreateOnce(ctx, f.Bucket, key, content); err != nil {
		return manifest.Book{}, fmt.Errorf("cannot put book %s: %w", key, err)
	}
	return manifest.Book{Key: key, Bytes: int64(len(content)), Outcomes: len(learnt.Outcomes), Links: len(learnt.Links)}, nil
}
