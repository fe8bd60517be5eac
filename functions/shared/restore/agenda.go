package restore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// A pass over the books for what is due comes no sooner than these after
// another, and no later.
const (
	minPass = time.Minute // as often as any schedule
	maxPass = 24 * time.Hour
)

// agenda tells what is due now, and when anything is next.
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
	if membership.IsKept(last) || membership.IsAlias(last) {
		d.Last = batch.LookOf(last)
	}
	return d
}

// clock keeps in Redis when the books of a storage partition are next looked
// through for what is due. One that is lost costs one look.
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
