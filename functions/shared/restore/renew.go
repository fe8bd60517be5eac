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

// Renew queues the URLs of a storage partition that have become due since the frontiers (the queues
// in Redis) were built. It finds these URLs in the partition's books, which it reads only if a URL
// may be due. It skips frontiers that must be rebuilt, because the rebuild will queue their due
// URLs.
func (f *Frontiers) Renew(ctx context.Context, s *settings.Settings, m *manifest.Manifest) error {
	at := clock{f.Redis, m.Partition}
	due := &renewer{redis: f.Redis, settings: s, times: newDueTimes(s, f.Now()), shares: make(map[int][]frontier.Due)}
	come, err := at.hasCome(ctx, due.times.now)
	if err != nil || !come {
		return err
	}
	err = f.renewAll(ctx, m.Books, due)
	if errors.Is(err, frontier.ErrNotBuilt) {
		return nil
	}
	if err == nil {
		err = at.set(ctx, due.times)
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
	lead := leads{redis: f.Redis, settings: due.settings}
	follow := func() error {
		again, err := lead.found(ctx)
		for _, last := range again {
			if err == nil {
				err = due.addNow(ctx, last)
			}
		}
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
		if lead.see(*s.Final) {
			if err := follow(); err != nil {
				return err
			}
		}
	}
	if err := follow(); err != nil {
		return err
	}
	return due.flush(ctx)
}

// renewer collects the URLs that are due, and passes them to the frontiers of their crawl
// partitions, in groups of shareSize.
type renewer struct {
	redis    redis.UniversalClient
	settings *settings.Settings
	times    *dueTimes
	shares   map[int][]frontier.Due // URLs that are due, by crawl partition
	renewed  int
}

// add queues a URL for another request if the URL is due. last is the URL's last final outcome, the
// record of its last request.
func (r *renewer) add(ctx context.Context, last book.Outcome) error {
	if !r.times.isDue(last) {
		return nil
	}
	at, err := address.Parse(last.URL)
	if err != nil {
		return fmt.Errorf("url %q in the books: %w", last.URL, err)
	}
	collection := r.times.dueFor(last, at, "")
	if collection == "" {
		return nil
	}
	return r.hold(ctx, at, last, collection)
}

// hold adds a request for a URL to the group of the URL's crawl partition. When the group has
// shareSize requests, hold passes them to the partition's frontier. The parameter last is the
// outcome of the URL's last request. The parameter collection is the one on whose behalf the URL is
// requested again.
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

// addNow queues a URL for another request, whether the URL is due or not. The parameter last is the
// outcome of the URL's last request. It names the collections for which this request was made. The
// new request is made for the first of them that still admits the URL. If none does, addNow does
// nothing.
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
	n, err := front.Renew(ctx, r.times.now, r.shares[crawl])
	r.renewed += n
	delete(r.shares, crawl)
	return err
}

// The least and the greatest time between two searches for due URLs in the books of a partition.
const (
	minPass = time.Minute
	maxPass = 24 * time.Hour
)

// dueTimes decides which URLs are due now, and computes when the next URL will be due.
type dueTimes struct {
	settings *settings.Settings
	now      time.Time
	next     time.Time // earliest time after now at which a URL is due, among those seen so far
}

// newDueTimes returns a dueTimes for a search for due URLs at the present time (the parameter now).
// Its field next is the time of the next search. The search lowers it to the earliest time at which a
// URL that it sees will be due. But the search may miss pages that are stored meanwhile. So next
// starts with the earliest time at which any collection would again request a page that is stored
// now. It is at most maxPass after the present time.
func newDueTimes(s *settings.Settings, now time.Time) *dueTimes {
	a := &dueTimes{s, now, now.Add(maxPass)}
	for _, c := range s.Collections {
		a.note(s.Due(book.Outcome{State: book.Stored, Time: now, Collections: []string{c.Name}}))
	}
	return a
}

// isDue reports whether it is time to request a URL again. The URL must be one that a collection
// admits. The parameter last is its last final outcome (the record of a request). isDue also
// computes when the URL will be due next, and sets a.next to that time if it is earlier than
// a.next.
func (a *dueTimes) isDue(last book.Outcome) bool {
	due := a.settings.Due(last)
	if due.IsZero() || due.After(a.now) {
		a.note(due)
		return false
	}
	// The URL is fetched now. If its page is missing then, it is due again soon.
	last.Time, last.Exponent = a.now, min(last.Exponent, 0)-2
	a.note(a.settings.Due(last))
	return true
}

func (a *dueTimes) note(due time.Time) {
	if due.After(a.now) && due.Before(a.next) {
		a.next = due
	}
}

// dueFor returns the collection on whose behalf a due URL (see isDue) is requested. The URL's last
// request was made for the collections last.Collections. Some of these may not admit the URL any more:
//
//	that still admit it   result
//	all                   the first of them
//	some                  the first that still admits it, if the URL is due for any that does; else ""
//	none                  the parameter another, if the URL is due for that collection; else ""
func (a *dueTimes) dueFor(last book.Outcome, at address.Address, another string) string {
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

// renewal returns the entry by which a frontier queues a URL for another request, on behalf of a
// collection. last is the outcome of the URL's last request. The entry has the validators (ETag,
// Last-Modified) of that request, if the URL has a page or leads to one.
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

// clock keeps in Redis, for a storage partition, the time of the next search for due URLs in its
// books. If Redis has lost the time, the next search is due now.
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

// clear makes the next search due now.
func (c clock) clear(ctx context.Context) error { return c.rdb.Del(ctx, c.key()).Err() }

func (c clock) set(ctx context.Context, a *dueTimes) error {
	next := a.now.Add(max(a.next.Sub(a.now), minPass))
	return c.rdb.Set(ctx, c.key(), next.UnixMilli(), 0).Err()
}
