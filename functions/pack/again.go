package pack

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// doubt is how much later than a sitemap says a page may have changed: many
// tell the day alone.
const doubt = 24 * time.Hour

// again returns the pages that are to be asked for before their time, by crawl
// partition: sitemaps say that they have changed since the last look at them,
// which the books tell. A page of which the books know nothing yet was had a
// moment ago. It reads the outcomes of the pages' sites, in the partitions in
// which these are stored; a damaged book costs no more than that its pages wait
// for their time.
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

// lastLooks folds what the books of a storage partition say of pages that are
// wanted, of these sites, into what is known of them.
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

// outcomesOf reads from one book the outcomes of the URLs that are wanted; none
// of one that is damaged.
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
