package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Renew lets wait again what has become due, by the books of a storage
// partition, since the frontiers were built. It reads no more of them than their
// outcomes, and those only when its time has come. A frontier that is to be
// rebuilt learns it then.
func (f *Frontiers) Renew(ctx context.Context, s *settings.Settings, m *manifest.Manifest) error {
	at := clock{f.Redis, m.Partition}
	due := &renewer{redis: f.Redis, settings: s, agenda: newAgenda(s, f.Now()), shares: make(map[int][]frontier.Due)}
	come, err := at.hasCome(ctx, due.agenda.now)
	if err != nil || !come {
		return err
	}
	err = f.renewAll(ctx, m.Books, due)
	if errors.Is(err, frontier.ErrNotBuilt) {
		return nil
	}
	if err == nil {
		err = at.set(ctx, due.agenda)
	}
	if err != nil {
		return fmt.Errorf("cannot renew what is due in partition %s: %w", m.Partition, err)
	}
	if due.renewed > 0 {
		f.Log.InfoContext(ctx, "pages are asked for again", "partition", m.Partition, "urls", due.renewed)
	}
	return nil
}

func (f *Frontiers) renewAll(ctx context.Context, listed []manifest.Book, due *renewer) error {
	books, err := partition.OpenBooks(ctx, f.Bucket, listed)
	if err != nil {
		return err
	}
	for s, err := range books.Standings(ctx) {
		if err != nil {
			return err
		}
		if s.Final == nil {
			continue
		}
		if err := due.add(ctx, *s.Final); err != nil {
			return err
		}
	}
	return due.flush(ctx)
}

// renewer hands what is due to the frontiers, some at a time.
type renewer struct {
	redis    redis.UniversalClient
	settings *settings.Settings
	agenda   *agenda
	shares   map[int][]frontier.Due // by crawl partition
	renewed  int
}

// add looks at the last final outcome of a URL.
func (r *renewer) add(ctx context.Context, last book.Outcome) error {
	if !r.agenda.isDue(last) {
		return nil
	}
	at, err := address.Parse(last.URL)
	if err != nil {
		return fmt.Errorf("url %q in the books: %w", last.URL, err)
	}
	collection := r.agenda.dueFor(last, at, "")
	if collection == "" {
		return nil
	}
	crawl, err := r.settings.Crawl.Decide(at)
	if err != nil {
		return err
	}
	if r.shares[crawl] = append(r.shares[crawl], renewal(at, last, collection)); len(r.shares[crawl]) >= shareSize {
		return r.hand(ctx, crawl)
	}
	return nil
}

func (r *renewer) flush(ctx context.Context) error {
	for crawl := range r.shares {
		if err := r.hand(ctx, crawl); err != nil {
			return err
		}
	}
	return nil
}

func (r *renewer) hand(ctx context.Context, crawl int) error {
	front := frontier.New(r.redis, crawl).Under(r.settings.Fingerprint())
	n, err := front.Renew(ctx, r.agenda.now, r.shares[crawl])
	r.renewed += n
	delete(r.shares, crawl)
	return err
}
