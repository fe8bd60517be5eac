package sweep

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// leaseTime is how long the frontier waits for another rebuild when one has
// died.
const leaseTime = 30 * time.Second

// rebuild restores the frontier from the bucket where Redis came up empty, or
// where settings have changed since it was built.
func (f *Function) rebuild(ctx context.Context, s *settings.Settings) error {
	stale, err := f.stale(ctx, s)
	if err != nil || len(stale) == 0 {
		return err
	}
	_, err = lease.New(f.Redis, f.Worker).Do(ctx, "rebuild", f.Now, leaseTime, func() error {
		return f.restore(ctx, s, stale)
	})
	return err
}

func (f *Function) stale(ctx context.Context, s *settings.Settings) ([]int, error) {
	var stale []int
	for _, crawl := range s.Crawl.Partitions() {
		switch err := frontier.New(f.Redis, crawl).Built(ctx, s.Fingerprint()); {
		case errors.Is(err, frontier.ErrNotBuilt):
			stale = append(stale, crawl)
		case err != nil:
			return nil, err
		}
	}
	return stale, nil
}

// restore loads the fold of books and spool into the frontiers of the stale
// crawl partitions, in a new epoch, so that tokens never start again. The
// epoch is claimed late: whoever was slower opens the higher one.
func (f *Function) restore(ctx context.Context, s *settings.Settings, stale []int) error {
	began := f.Now()
	for _, crawl := range stale {
		if err := frontier.New(f.Redis, crawl).Reset(ctx); err != nil {
			return err
		}
	}
	books, err := account.Read(ctx, f.Bucket, s)
	if err != nil {
		return fmt.Errorf("cannot rebuild the frontier: %w", err)
	}
	shares, err := divide(books, s)
	if err != nil {
		return err
	}
	if len(stale) == len(shares) {
		if err := f.refill(ctx, books.Spooled); err != nil {
			return err
		}
	}
	epoch, err := f.claimEpoch(ctx)
	if err != nil {
		return err
	}
	for _, crawl := range stale {
		front := frontier.New(f.Redis, crawl)
		share := shares[crawl]
		if err := front.Mark(ctx, share.known); err != nil {
			return err
		}
		if _, err := front.Admit(ctx, f.Now(), share.pending); err != nil {
			return err
		}
		if err := front.Declare(ctx, s.Fingerprint()); err != nil {
			return err
		}
		if err := front.Open(ctx, epoch); err != nil {
			return err
		}
	}
	f.Log.InfoContext(ctx, "rebuilt frontier", "epoch", epoch, "partitions", len(stale), "urls", books.Len(), "took", f.Now().Sub(began))
	return nil
}

// refill enters what waits to be packed into the inboxes, before the frontier
// is open: else a crawl that has nothing left to ask looks as if all were done.
// When only some frontiers were stale, the others have yet to learn what the
// spool says, and the events that are raised again tell them.
func (f *Function) refill(ctx context.Context, spooled []account.Spooled) error {
	for _, s := range spooled {
		waiting := frontier.Waiting{Batch: s.Batch, Bytes: s.Bytes, Pages: s.Pages, Since: f.Now()}
		if err := frontier.NewInbox(f.Redis, s.Partition).Add(ctx, waiting); err != nil {
			return err
		}
	}
	return nil
}

// share is what one crawl partition's frontier holds.
type share struct {
	known   []frontier.Known
	pending []frontier.Entry
}

func divide(books *account.Bucket, s *settings.Settings) (map[int]*share, error) {
	shares := make(map[int]*share)
	for _, crawl := range s.Crawl.Partitions() {
		shares[crawl] = new(share)
	}
	for u, err := range books.All() {
		if err != nil {
			return nil, err
		}
		crawl, err := s.Crawl.Decide(u.Address)
		if err != nil {
			continue // refused by the strategy since: no frontier's business
		}
		own := shares[crawl]
		switch {
		case u.State == account.Pending:
			own.pending = append(own.pending, frontier.Entry{
				URL: u.Address.URL, ID: u.Address.ID, Host: u.Address.Host,
				Depth: u.Depth, Hops: u.Hops, Attempts: u.Attempts,
				Exponent: u.Final.Exponent, Collection: u.Collection,
			})
		case u.Final.State != 0:
			own.known = append(own.known, frontier.Known{
				ID: u.Address.ID, State: u.Final.State, Version: u.Final.Version, Depth: u.Final.Depth,
			})
		}
	}
	return shares, nil
}

// claimEpoch begins a new life of the frontier. A claim tells itself from any
// other, so that a Create that is tried again knows its own.
func (f *Function) claimEpoch(ctx context.Context) (uint64, error) {
	var last uint64
	for object, err := range f.Bucket.List(ctx, layout.Epochs, "") {
		if err != nil {
			return 0, fmt.Errorf("cannot list epochs: %w", err)
		}
		if last, err = layout.ParseEpochKey(object.Key); err != nil {
			return 0, err
		}
	}
	claim := []byte(f.Worker + " " + rand.Text() + "\n")
	for {
		last++
		err := f.Bucket.Create(ctx, layout.EpochKey(last), claim)
		if err == nil {
			return last, nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return 0, fmt.Errorf("cannot claim epoch %d: %w", last, err)
		}
	}
}
