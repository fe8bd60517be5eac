package restore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Renew queues again the URLs that have become due since the frontiers were built,
// by the outcomes in the books of a storage partition. It reads them only when a
// URL may be due. A frontier that has to be rebuilt gets its due URLs then.
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
	var deserted brokenLeads
	for s, err := range books.Standings(ctx) {
		if err != nil {
			return err
		}
		if s.Final == nil {
			continue
		}
		deserted.see(due.settings, s)
		if err := due.add(ctx, *s.Final); err != nil {
			return err
		}
	}
	for _, last := range deserted.all() {
		if err := due.addNow(ctx, last); err != nil {
			return err
		}
	}
	return due.flush(ctx)
}

// renewer passes due URLs to the frontiers, some at a time.
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
	return r.hold(ctx, at, last, collection)
}

// hold keeps a renewal until there are enough to be handed over.
func (r *renewer) hold(ctx context.Context, at address.Address, last book.Outcome, collection string) error {
	crawl, err := r.settings.Crawl.Decide(at)
	if err != nil {
		return err
	}
	if r.shares[crawl] = append(r.shares[crawl], renewal(at, last, collection)); len(r.shares[crawl]) >= shareSize {
		return r.hand(ctx, crawl)
	}
	return nil
}

// addNow has a URL asked for whatever its time is, on behalf of the first
// collection that still wants it.
func (r *renewer) addNow(ctx context.Context, last book.Outcome) error {
	at, err := address.Parse(last.URL)
	if err != nil {
		return fmt.Errorf("url %q in the books: %w", last.URL, err)
	}
	still := r.settings.Asking(last, at)
	if len(still) == 0 {
		return nil
	}
	return r.hold(ctx, at, last, still[0])
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

// A pass over the books for what is due comes no sooner than these after
// another, and no later.
const (
	minPass = time.Minute // as often as any schedule
	maxPass = 24 * time.Hour
)

// agenda decides which URLs are due now, and when the next one will be.
type agenda struct {
	settings *settings.Settings
	now      time.Time
	next     time.Time
}

// newAgenda knows of nothing but of the pages that are stored from now on.
func newAgenda(s *settings.Settings, now time.Time) *agenda {
	a := &agenda{s, now, now.Add(maxPass)}
	for _, c := range s.Collections {
		a.note(s.Due(book.Outcome{State: book.Stored, Time: now, Collections: []string{c.Name}}))
	}
	return a
}

// isDue reports whether a URL that is admitted is due, whose last final outcome
// this is.
func (a *agenda) isDue(last book.Outcome) bool {
	due := a.settings.Due(last)
	if due.IsZero() || due.After(a.now) {
		a.note(due)
		return false
	}
	// It is asked for now, and may be missing, which is looked into soon.
	last.Time, last.Exponent = a.now, min(last.Exponent, 0)-2
	a.note(a.settings.Due(last))
	return true
}

func (a *agenda) note(due time.Time) {
	if due.After(a.now) && due.Before(a.next) {
		a.next = due
	}
}

// dueFor returns the collection on whose behalf a URL that isDue is asked for:
// the first of those for which it was that still admit it, or else another that
// does, if there is one; "" when by their times it is not due.
func (a *agenda) dueFor(last book.Outcome, at address.Address, another string) string {
	still := a.settings.Asking(last, at)
	if len(still) == len(last.Collections) {
		return still[0]
	}
	if len(still) == 0 && another != "" {
		still = []string{another}
	}
	if last.Collections = still; !a.isDue(last) {
		return ""
	}
	return still[0]
}

// renewal is what the frontier is told of a URL that is due: it is asked for on
// behalf of a collection, as deep as it was the last time.
func renewal(at address.Address, last book.Outcome, collection string) frontier.Due {
	d := frontier.Due{
		Entry: frontier.Entry{
			URL: at.URL, ID: at.ID, Host: at.Host,
			Depth: last.Depth, Hops: last.Hops, Exponent: last.Exponent, Weight: last.Weight,
			Sitemap: membership.IsSitemap(last), Collection: collection,
		},
		Version: last.Version,
	}
	if membership.IsKept(last) || membership.IsAlias(last) || membership.LeadsTo(last) != "" {
		d.Last = batch.LookOf(last)
	}
	return d
}

// clock keeps in Redis when the books of a storage partition are next read for due
// URLs. If it is lost, they are read once more.
type clock struct {
	rdb     redis.UniversalClient
	storage layout.Partition
}

func (c clock) key() string { return "recrawl:" + c.storage.String() }

func (c clock) hasCome(ctx context.Context, now time.Time) (bool, error) {
	next, err := c.rdb.Get(ctx, c.key()).Int64()
	if errors.Is(err, redis.Nil) {
		return true, nil
	}
	return now.UnixMilli() >= next, err
}

func (c clock) set(ctx context.Context, a *agenda) error {
	next := a.now.Add(max(a.next.Sub(a.now), minPass))
	return c.rdb.Set(ctx, c.key(), next.UnixMilli(), 0).Err()
}
