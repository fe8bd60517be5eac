package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/forget"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Renew queues the URLs of a storage partition that have become due since the frontiers (the queues
// in Redis) were built. It skips frontiers that must be rebuilt, because the rebuild will queue their
// due URLs.
//
// It searches all books of the partition once a day, and when the settings have changed. In between, it
// searches only new books, and the lists of URLs that the searches before have made (see agenda).
func (f *Frontiers) Renew(ctx context.Context, s *settings.Settings, m *manifest.Manifest) error {
	due := f.renewer(s, func(crawl int) *frontier.Frontier {
		return frontier.New(f.Redis, crawl).WithRuns(f.Bucket).WithRunCache(&f.runs).Under(s.Fingerprint())
	})
	err := due.run(ctx, m)
	if errors.Is(err, frontier.ErrNotBuilt) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot renew what is due in partition %s: %w", m.Partition, err)
	}
	if due.renewed > 0 {
		f.Log.InfoContext(ctx, "pages are asked for again", "partition", m.Partition, "urls", due.renewed)
	}
	return nil
}

// renewer is one search for due URLs, of a storage partition or of all. It passes them to the frontiers of their
// crawl partitions, in groups of shareSize, and adds those that become due later to the agenda.
type renewer struct {
	*Frontiers
	dueTimes
	front   func(crawl int) *frontier.Frontier // returns nil if URLs of the crawl partition are to be left out
	agenda  *agenda
	filter  *forget.Filter         // keeps forgotten URLs out of lists
	shares  map[int][]frontier.Due // URLs that are due, by crawl partition
	renewed int
}

func (f *Frontiers) renewer(s *settings.Settings, front func(crawl int) *frontier.Frontier) *renewer {
	return &renewer{Frontiers: f, dueTimes: dueTimes{s, f.Now()}, front: front, filter: forget.New(s.Takedowns), shares: make(map[int][]frontier.Due)}
}

// run searches for due URLs by the agenda or, if its time is over, in all books.
func (r *renewer) run(ctx context.Context, m *manifest.Manifest) (err error) {
	if r.agenda, err = r.readAgenda(ctx, m.Partition); err != nil {
		return err
	}
	if r.agenda.holds(r.now, r.settings.Fingerprint()) {
		err := r.listed(ctx)
		if err == nil {
			err = r.search(ctx, m.Books)
		}
		if !errors.Is(err, errListLost) {
			return err
		}
		r.Log.WarnContext(ctx, "all books are searched for what is due", "partition", m.Partition, "reason", err)
	}
	if r.agenda, err = r.newAgenda(ctx, m.Partition, r.settings.Fingerprint()); err != nil {
		return err
	}
	return r.search(ctx, m.Books)
}

// listed queues the URLs of the agenda's lists that are due.
func (r *renewer) listed(ctx context.Context) error {
	for i := range r.agenda.Lists {
		l := &r.agenda.Lists[i]
		for k := range l.Pieces {
			if err := r.piece(ctx, l, &l.Pieces[k]); err != nil {
				return err
			}
		}
		l.Pieces = slices.DeleteFunc(l.Pieces, func(p piece) bool { return p.Next.IsZero() })
	}
	return nil
}

// piece queues the URLs of a piece of a list that are due, and sets p.Next; to zero if all are queued now.
func (r *renewer) piece(ctx context.Context, l *list, p *piece) error {
	if p.Next.After(r.now) {
		return nil
	}
	outcomes, err := r.agenda.read(ctx, l, *p)
	if err != nil {
		return err
	}
	var next time.Time
	for _, last := range outcomes {
		switch at := r.settings.Due(last); {
		case at.Before(p.Next): // an earlier search has queued it
		case !at.After(r.now):
			if err := r.queue(ctx, last); err != nil {
				return err
			}
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	p.Next = next
	return nil
}

// search searches those of the listed books that are new to the agenda, and saves the agenda.
func (r *renewer) search(ctx context.Context, listed []manifest.Book) error {
	var keys []string
	var fresh []manifest.Book
	for _, b := range listed {
		if keys = append(keys, b.Key); !slices.Contains(r.agenda.Books, b.Key) {
			fresh = append(fresh, b)
		}
	}
	if err := r.searchAll(ctx, fresh); err != nil {
		return err
	}
	r.agenda.Books = keys
	return r.agenda.save(ctx)
}

// searchAll queues the URLs in books that are due, and adds those that become due later to the agenda.
func (r *renewer) searchAll(ctx context.Context, listed []manifest.Book) error {
	books, err := partition.OpenBooks(ctx, r.Bucket, listed)
	if err != nil {
		return err
	}
	lead := leads{Frontiers: r.Frontiers, settings: r.settings}
	follow := func() error {
		again, err := lead.found(ctx)
		for _, last := range again {
			if err == nil {
				err = r.queueNow(ctx, last)
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
		if err := r.add(ctx, *s.Final); err != nil {
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
	return r.flush(ctx)
}

// add queues a URL for another request if the URL is due, or adds it to the agenda. last is the URL's
// last final outcome, the record of its last request.
func (r *renewer) add(ctx context.Context, last book.Outcome) error {
	switch at := r.settings.Due(last); {
	case at.IsZero():
	case !at.After(r.now):
		return r.queue(ctx, last)
	case at.Before(r.agenda.Until) && r.filter.Outcome(&last):
		return r.agenda.add(ctx, coming{at, last})
	}
	return nil
}

// queue queues a due URL for another request, if a collection still admits the URL. last is the URL's
// last final outcome.
func (r *renewer) queue(ctx context.Context, last book.Outcome) error {
	at, err := address.Parse(last.URL)
	if err != nil {
		return fmt.Errorf("url %q in the books: %w", last.URL, err)
	}
	collection := r.dueFor(last, at, "")
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

// queueNow queues a URL for another request, whether the URL is due or not. The parameter last is the
// outcome of the URL's last request. It names the collections for which this request was made. The
// new request is made for the first of them that still admits the URL. If none does, queueNow does
// nothing.
func (r *renewer) queueNow(ctx context.Context, last book.Outcome) error {
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
	due := r.shares[crawl]
	delete(r.shares, crawl)
	front := r.front(crawl)
	if front == nil {
		return nil
	}
	n, err := front.Renew(ctx, r.now, due)
	r.renewed += n
	return err
}

// dueTimes decides which URLs are due at one moment, now.
type dueTimes struct {
	settings *settings.Settings
	now      time.Time
}

// isDue reports whether it is time to request a URL again. The URL must be one that a collection
// admits. The parameter last is its last final outcome (the record of a request).
func (a *dueTimes) isDue(last book.Outcome) bool {
	due := a.settings.Due(last)
	return !due.IsZero() && !due.After(a.now)
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
	if len(still) > 0 && len(still) == len(last.Collections) {
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
