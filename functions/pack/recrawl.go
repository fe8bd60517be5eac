package pack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/run"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// doubt is added to the time at which a page changed according to a sitemap. The page may have
// changed later than that, because many sitemaps name only the day.
const doubt = 24 * time.Hour

// again returns pages that must be fetched again before they are due, by crawl partition. The
// parameter changed has pages of sitemaps, each with the time at which it changed according to the
// sitemap. again returns those that were last requested before this time. It finds their last
// requests in the books of the storage partitions that may hold the pages, but skips damaged books.
// A page without an outcome in a book is left out: most likely it was fetched just now, and its
// outcome is not packed yet.
func (f *Function) again(ctx context.Context, s *settings.Settings, changed []change) (map[int][]frontier.Due, error) {
	byStorage := make(map[layout.Partition][]change)
	for _, c := range changed {
		for _, storage := range s.Holding(c.page) {
			byStorage[storage] = append(byStorage[storage], c)
		}
	}
	last := make(map[layout.Identity]book.Standing, len(changed))
	for storage, pages := range byStorage {
		wanted, sites := make(map[layout.Identity]bool, len(pages)), make(map[uint32]bool)
		for _, c := range pages {
			wanted[c.page.ID], sites[c.page.Place.Site()] = true, true
		}
		if err := f.lastLooks(ctx, storage, sites, wanted, last); err != nil {
			return nil, fmt.Errorf("cannot look up what sitemaps say has changed: %w", err)
		}
	}
	due := make(map[int][]frontier.Due)
	for _, c := range changed {
		o := last[c.page.ID].Final
		if o == nil || o.State != book.Stored && o.State != book.Unchanged || !c.at.Add(doubt).After(o.Time) {
			continue
		}
		still := s.Asking(*o, c.page)
		if len(still) == 0 {
			continue
		}
		crawl, err := s.Crawl.Decide(c.page)
		if err != nil {
			return nil, err
		}
		due[crawl] = append(due[crawl], frontier.Due{Version: o.Version, Entry: frontier.Entry{
			URL: o.URL, ID: c.page.ID, Host: c.page.Host, Depth: o.Depth, Hops: o.Hops, Exponent: o.Exponent,
			Weight: c.weight, Collection: still[0], Last: batch.LookOf(*o),
		}})
	}
	return due, nil
}

// lastLooks reads the outcomes of the wanted pages from the books of a storage partition, and adds
// them to the map in the parameter last. It reads only the parts of the books for the given sites,
// so the caller must give the sites of all wanted pages. It logs damaged books and skips them.
func (f *Function) lastLooks(ctx context.Context, p layout.Partition, sites map[uint32]bool, wanted map[layout.Identity]bool, last map[layout.Identity]book.Standing) error {
	m, err := manifest.Read(ctx, f.Bucket, p)
	if err != nil {
		return err
	}
	books, err := partition.OpenBooks(ctx, f.Bucket, m.Books)
	if err != nil {
		return err
	}
	found := make([][]book.Outcome, len(m.Books))
	err = books.Each(ctx, func(ctx context.Context, i int, r *book.Reader) (err error) {
		found[i], err = outcomesOf(ctx, r, sites, wanted)
		return err
	})
	if err != nil {
		return err
	}
	for _, damaged := range books.Damaged() {
		f.Log.WarnContext(ctx, "a book does not tell which pages have changed", "partition", p, "error", damaged)
	}
	for _, outcomes := range found {
		for i := range outcomes {
			id := outcomes[i].Identity()
			standing := last[id]
			standing.Add(&outcomes[i])
			last[id] = standing
		}
	}
	return nil
}

// outcomesOf returns the outcomes of the wanted URLs in one book. It reads only the parts of the
// book for the given sites: the caller must give the sites of all wanted URLs.
func outcomesOf(ctx context.Context, reader *book.Reader, sites map[uint32]bool, wanted map[layout.Identity]bool) (found []book.Outcome, err error) {
	for site := range sites {
		from := layout.Place(site) << 32
		for o, err := range reader.Outcomes(ctx, layout.Range{From: from, To: from + 1<<32}) {
			if err != nil {
				return nil, err
			}
			if wanted[o.Identity()] {
				found = append(found, o)
			}
		}
	}
	return found, nil
}

// lastOf returns the last outcome of each entry's page, by the page's identity. The outcome of a
// request that is to be repeated (Retry) does not count. The parameter targets has the addresses of
// the entries, by URL. lastOf leaves out pages that the frontier does not list as stored, and pages
// that wait for another request already.
//
// The outcomes are in the spool until they are packed, and then in a book. So lastOf reads the
// spool before the books. If a batch is packed meanwhile, its outcomes are found in a book.
func (f *Function) lastOf(ctx context.Context, s *settings.Settings, front *frontier.Frontier, entries []frontier.Entry, targets map[string]address.Address) (map[layout.Identity]*book.Outcome, error) {
	urls := make([]run.URL, len(entries))
	for i, e := range entries {
		urls[i] = run.URL{Site: targets[e.URL].Place.Site(), ID: e.ID}
	}
	decided, err := front.Decided(ctx, urls)
	if err != nil {
		return nil, err
	}
	byStorage := make(map[layout.Partition]map[layout.Identity]address.Address)
	for _, e := range entries {
		if _, found := decided[e.ID]; !found {
			continue
		}
		at := targets[e.URL]
		for _, p := range s.Holding(at) {
			if byStorage[p] == nil {
				byStorage[p] = make(map[layout.Identity]address.Address)
			}
			byStorage[p][at.ID] = at
		}
	}
	last := make(map[layout.Identity]*book.Outcome, len(decided))
	for p, pages := range byStorage {
		if err := f.spooledLooks(ctx, p, pages, decided, last); err != nil {
			return nil, err
		}
	}
	packed := make(map[layout.Identity]book.Standing)
	for p, pages := range byStorage {
		wanted, sites := make(map[layout.Identity]bool), make(map[uint32]bool)
		for id, at := range pages {
			if last[id] == nil {
				wanted[id], sites[at.Place.Site()] = true, true
			}
		}
		if len(wanted) == 0 {
			continue
		}
		if err := f.lastLooks(ctx, p, sites, wanted, packed); err != nil {
			return nil, err
		}
	}
	for id, standing := range packed {
		last[id] = standing.Final
	}
	return last, nil
}

// spooledLooks reads the last outcomes of pages from the spool of a storage partition, and adds
// them to the parameter last. The parameter decided gives, for each page, the batch that last
// stored the page or found it unchanged. spooledLooks reads only the spool objects of these
// batches. If such an object is deleted or damaged, its pages are left out.
func (f *Function) spooledLooks(ctx context.Context, p layout.Partition, pages map[layout.Identity]address.Address, decided map[layout.Identity]layout.Version, last map[layout.Identity]*book.Outcome) error {
	read := make(map[layout.Version]bool)
	for id := range pages {
		by := decided[id]
		if read[by] {
			continue
		}
		read[by] = true
		ledger, err := spool.ReadLedger(ctx, f.Bucket, layout.SpoolKey(p, by))
		switch {
		case errors.Is(err, blob.ErrAbsent), errors.Is(err, spool.ErrDamaged):
			continue
		case err != nil:
			return err
		}
		for i := range ledger.Outcomes {
			o := &ledger.Outcomes[i]
			if id := o.Identity(); decided[id] == by {
				last[id] = o
			}
		}
	}
	return nil
}

// renewLacking queues stored pages for another request. Each of them is stored for some collections,
// but not yet for another collection that wants it, too. The request is on behalf of the latter.
//
//	parameter   holds
//	entries     admitted URLs, each with a collection that wants it
//	lacking     identities of those URLs whose page the collection may lack
//	targets     addresses of the entries, by URL
//
// In these cases it does not queue the page. It calls the frontier's method Miss instead, so that a
// rebuild of the frontier searches for pages that collections lack:
//
//	the page waits already, to be requested for another collection
//	no outcome of the page can be read
//	the collection has a limit of pages: the rebuild counts its pages first
func (f *Function) renewLacking(ctx context.Context, s *settings.Settings, front *frontier.Frontier, entries []frontier.Entry, targets map[string]address.Address, lacking []layout.Identity) error {
	lacks := make(map[layout.Identity]bool, len(lacking))
	for _, id := range lacking {
		lacks[id] = true
	}
	var wanted []frontier.Entry
	missed := false
	for _, e := range entries {
		switch {
		case !lacks[e.ID]:
		case s.IsLimited(e.Collection):
			missed = true
		default:
			wanted = append(wanted, e)
		}
	}
	var due []frontier.Due
	if len(wanted) > 0 {
		last, err := f.lastOf(ctx, s, front, wanted, targets)
		if err != nil {
			return fmt.Errorf("cannot look up what other collections have: %w", err)
		}
		for _, e := range wanted {
			o := last[e.ID]
			switch {
			case o != nil && slices.Contains(o.Collections, e.Collection):
			case o == nil || o.State != book.Stored && o.State != book.Unchanged:
				missed = true
			default:
				e.Exponent, e.Last = o.Exponent, batch.LookOf(*o)
				due = append(due, frontier.Due{Entry: e, Version: o.Version})
			}
		}
	}
	renewed, err := front.Renew(ctx, f.Now(), due)
	if err == nil && (missed || renewed < len(due)) {
		err = front.Miss(ctx)
	}
	return err
}
