package index

import (
	"context"
	"errors"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// Together makes the documents of a partition's small packages again, in one segment that replaces their present
// documents. Together, the packages have enough pages to tell which blocks of text their hosts repeat, such as
// menus. The function segments.Together decides which packages are taken, and when. A document that is dead stays
// dead. The new segment depends only on the bytes of these packages and, if they have too few pages, on those of
// others (see witnesses).
//
// If another process is doing the same, Together returns an error, so that the message is delivered again later.
func (f *Function) Together(ctx context.Context, t task.Together) error {
	worked, err := lease.New(f.Redis, f.Worker).Do(ctx, "index together "+t.Storage.String(), f.Now, leaseTime, func() error {
		for {
			p, err := partition.Open(ctx, f.Bucket, t.Storage, f.Now)
			if err != nil {
				return err
			}
			listed := segments.Together(p.Manifest(), t.Ended)
			if listed == nil {
				return nil
			}
			if err = f.buildTogether(ctx, p, listed); err == nil && segments.Together(p.Manifest(), t.Ended) != nil {
				return task.Send(ctx, f.Sender, task.Index, t, 0)
			}
			if !errors.Is(err, partition.ErrStale) {
				return err
			}
		}
	})
	if err == nil && !worked {
		err = message.Later(errBusy)
	}
	return err
}

// buildTogether builds and commits the segment of the listed packages. The documents of a package that
// cannot be read stay as they are. It returns partition.ErrStale if the partition has changed meanwhile
// so that the segment must be built again.
func (f *Function) buildTogether(ctx context.Context, p *partition.Partition, listed []manifest.Package) error {
	began := f.Now()
	m, err := f.maker(ctx, p.Manifest())
	if err != nil {
		return err
	}
	var drafts []*draft
	var readable, unreadable []manifest.Package
	for _, pkg := range listed {
		pages, err := m.read(ctx, pkg.Key, nil)
		switch {
		case isUnreadable(err):
			f.Log.ErrorContext(ctx, "a package cannot be read, and its documents stay as they are", "key", pkg.Key, "error", err)
			unreadable = append(unreadable, pkg)
			continue
		case err != nil:
			return err
		}
		drafts, readable = append(drafts, pages...), append(readable, pkg)
	}
	witnesses, err := m.witnesses(ctx, p.Manifest(), drafts)
	if err != nil {
		return err
	}
	pages := m.finish(drafts, witnesses)
	listing := newCommitment(f, pages, readable...)
	listing.again, listing.unreadable = true, unreadable
	if err := f.commit(ctx, p, m, listing); err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "indexed together", "partition", p.ID(), "generation", p.Manifest().Generation, "packages", len(readable), "documents", len(pages),
		"witnesses", len(witnesses), "took", f.Now().Sub(began))
	return f.raiseMerge(ctx, p)
}

// isUnreadable reports whether a package is damaged or missing, as verify reports it. Another try does
// not help.
func isUnreadable(err error) bool {
	return errors.Is(err, webobject.ErrDamaged) || errors.Is(err, blob.ErrAbsent)
}
