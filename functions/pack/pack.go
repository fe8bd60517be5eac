package pack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// parallelReads is the number of spool objects that are read at the same time.
const parallelReads = 8

// packAll packs waiting batches into packages and a book, commits these, and removes the batches from the
// partition's inbox in Redis (the list of batches to be packed). It also stores in Redis how many pages
// the partition's packages have now. If another process packs some of the batches meanwhile, packAll
// starts again with the others. A batch that can no longer be packed (see lost) is only removed from the
// inbox: its outcomes were entered in a frontier (queues of URLs in Redis), but no book will have them.
// So packAll then makes the sweep rebuild the frontiers from the books.
func (f *Function) packAll(ctx context.Context, id layout.Partition, waiting []frontier.Waiting) error {
	batches := batchesOf(waiting)
	for {
		p, err := partition.Open(ctx, f.Bucket, id, f.Now)
		if err != nil {
			return err
		}
		current := p.Manifest()
		refused := slices.ContainsFunc(waiting, func(w frontier.Waiting) bool { return lost(current, w) })
		err = f.packRest(ctx, p, slices.DeleteFunc(slices.Clone(batches), func(batch layout.Version) bool {
			return current.HasConsumed(batch) || current.IsClosed(batch)
		}))
		if errors.Is(err, partition.ErrStale) {
			continue
		}
		if err == nil && refused {
			err = f.distrust(ctx)
		}
		if err != nil {
			return err
		}
		inbox, pages := frontier.NewInbox(f.Redis, id), 0
		for _, listed := range p.Manifest().Packages {
			pages += listed.Pages
		}
		if err := inbox.SetPacked(ctx, pages); err != nil {
			return err
		}
		return inbox.Remove(ctx, batches)
	}
}

// packRest packs and commits the given batches, except those whose spool object is no longer there.
// It returns partition.ErrStale if the caller must begin again: one of the batches is damaged, or
// was packed or closed by another process meanwhile, or newer takedowns have been applied to the
// partition.
func (f *Function) packRest(ctx context.Context, p *partition.Partition, batches []layout.Version) error {
	began := f.Now()
	spools, err := f.readSpools(ctx, p.ID(), batches)
	if err != nil || len(spools) == 0 {
		return err
	}
	inForce, err := f.settingsFor(ctx, p.Manifest())
	if err != nil {
		return err
	}
	withoutForgotten(spools, inForce.Takedowns)
	packages, err := putPackages(ctx, p, spools)
	if err != nil {
		return err
	}
	learnt, err := putBook(ctx, p, inForce, spools)
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
	err = p.Commit(ctx, func(e *partition.Edit) error {
		if e.Manifest().Forgotten > inForce.Takedowns.Version {
			return partition.ErrStale
		}
		if err := e.Consume("", packed...); err != nil {
			return err
		}
		for _, ticket := range packages {
			if err := e.AddPackage(ticket); err != nil {
				return err
			}
		}
		e.AddGone(gone...)
		if learnt == nil {
			return nil
		}
		if err := e.AddBook(*learnt); err != nil {
			return err
		}
		return f.learn(ctx, inForce, e, learnt.Key)
	})
	if err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "packed", "partition", p.ID(), "generation", p.Manifest().Generation, "batches", len(spools),
		"packages", len(packages), "outcomes", outcomes, "took", f.Now().Sub(began))
	return f.announce(ctx, p.ID(), gone, packages)
}

// announce tells other functions of a commit that was made: it sends the sweep a task to mask the
// documents of gone pages (mark them as dead), and sends the function index an event for each
// package. The bucket's own events are not enough: they often arrive before the commit, when no
// manifest lists the packages.
func (f *Function) announce(ctx context.Context, p layout.Partition, gone []manifest.Gone, packages []partition.Package) error {
	if len(gone) > 0 {
		if err := task.Send(ctx, f.Sender, task.Sweep, task.Clean{Gone: &p}, 0); err != nil {
			return err
		}
	}
	for _, listed := range packages {
		if err := message.Raise(ctx, f.Sender, task.Index, listed.Key, listed.Bytes, f.Now()); err != nil {
			return err
		}
	}
	return nil
}

// learn announces a commit to all frontiers. The commit will list the new book with the given key.
// Its name, by which it is announced, is "KEY@GENERATION". learn also sets Manifest.Learnt to this
// name, and the commit stores it. The caller must call learn before the commit. So if the name in
// Manifest.Learnt was never announced to a frontier, the frontier has missed a commit (see
// frontier.Learning).
func (f *Function) learn(ctx context.Context, s *settings.Settings, e *partition.Edit, key string) error {
	base, next := e.Manifest(), fmt.Sprintf("%s@%d", key, e.Generation())
	for _, crawl := range s.Crawl.Partitions() {
		if err := frontier.New(f.Redis, crawl).Learning(ctx, base.Partition, base.Learnt, next); err != nil {
			return err
		}
	}
	e.Learn(next)
	return nil
}

// readSpools reads the spool objects of the batches in parallel. It leaves out a missing one, which
// has been packed and deleted. It moves a damaged one to quarantine, and then returns
// partition.ErrStale.
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
				return cmp.Or(f.quarantine(ctx, p, batch, err), partition.ErrStale)
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

// putPackages stores the pages of the spool objects in packages, one for each class of pages that
// are expected to stay valid equally long (see classes). It writes the package, offset and length
// of every page into the page's outcome.
func putPackages(ctx context.Context, p *partition.Partition, spools []spool.Spool) ([]partition.Package, error) {
	var put []partition.Package
	for _, c := range classes(spools) {
		content, places, err := c.pkg.Build()
		if err != nil {
			return nil, fmt.Errorf("cannot build package of partition %s: %w", p.ID(), err)
		}
		name := layout.PackageName{Base: c.pkg.Base, Exponent: c.pkg.Exponent, Created: c.pkg.Created}
		ticket, err := p.PutPackage(ctx, name, content, len(places))
		if err != nil {
			return nil, err
		}
		for i, outcome := range c.outcomes {
			outcome.Package, outcome.Offset, outcome.Length = ticket.Key, places[i].Offset, places[i].Length
		}
		put = append(put, ticket)
	}
	return put, nil
}

// putBook stores a book with the outcomes and links of the spool objects. It must be called after
// putPackages, which completes the outcomes. It returns nil, and stores nothing, if there is no
// outcome and no link.
func putBook(ctx context.Context, p *partition.Partition, s *settings.Settings, spools []spool.Spool) (*partition.Book, error) {
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
	pages, err := membership.ParsePages(learnt.Outcomes)
	if err != nil {
		return nil, err
	}
	// Links are decided again: the settings may have changed since the batches were settled, and more may be forgotten.
	decided, err := s.Assign(learnt.Links, pages, nil)
	if err != nil {
		return nil, err
	}
	learnt.Links = slices.DeleteFunc(decided, func(l book.Link) bool { return l.Decision == membership.Forgotten })
	for i := range learnt.Links { // the frontier has applied Modified; links that differ only in it share a row of the book
		learnt.Links[i].Modified = time.Time{}
	}
	content, err := book.Encode(learnt)
	if err != nil {
		return nil, fmt.Errorf("cannot write book of partition %s: %w", p.ID(), err)
	}
	ticket, err := p.PutBook(ctx, content, len(learnt.Outcomes), len(learnt.Links))
	return &ticket, err
}
