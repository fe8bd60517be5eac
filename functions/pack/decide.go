package pack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/forget"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// discoveries are the URLs that the links of a batch add to the frontiers, the queues of URLs in
// Redis.
type discoveries struct {
	// entries for the frontier of each crawl partition, one for each URL and collection
	admitted map[int][]frontier.Entry
	targets  map[string]address.Address // address of each URL in the field admitted, by the URL
	// pages that have changed, according to a sitemap. Their URLs are also in the field admitted: a
	// page that is not in the frontier yet must be requested for the first time.
	changed []change
}

// change is a page of which a sitemap says that it has changed.
type change struct {
	page   address.Address
	weight uint8     // weight of the page's URL
	at     time.Time // time of the change
}

// decide returns the URLs that the links of a batch add to the frontiers (the queues of URLs in
// Redis). The parameter pages has the batch's pages, on which the links were found. A URL gets one
// entry for each collection that admits it, even if several links lead to it. The entry has the
// smallest depth of these links, and the weight of the best of them (see membership.Best).
func decide(s *settings.Settings, links []book.Link, pages []membership.Page) (discoveries, error) {
	all := discoveries{admitted: make(map[int][]frontier.Entry), targets: make(map[string]address.Address)}
	byCollection := make(map[string]map[string]*discovery)
	_, err := s.Assign(links, pages, func(l *book.Link, target address.Address) {
		all.targets[target.URL] = target
		by := membership.PathOf(*l)
		for _, name := range s.Waiting(by, target) {
			if by.Collection = name; s.HoldsBack(by, target) {
				continue // the link stays in the book: a rebuild admits its target later
			}
			if byCollection[name] == nil {
				byCollection[name] = make(map[string]*discovery)
			}
			w := byCollection[name][target.URL]
			if w == nil {
				w = new(discovery)
				byCollection[name][target.URL] = w
			}
			w.add(l)
		}
	})
	if err != nil {
		return discoveries{}, err
	}
	for _, name := range slices.SortedFunc(maps.Keys(byCollection), s.Compare) { // in a fixed order
		paths := byCollection[name]
		for _, url := range slices.Sorted(maps.Keys(paths)) {
			if err := all.add(s, name, all.targets[url], paths[url]); err != nil {
				return discoveries{}, err
			}
		}
	}
	return all, nil
}

// discovery combines all links of a batch that lead to one URL, for one collection that admits it.
type discovery struct {
	membership.Best
	changed time.Time // latest time at which the page changed, as sitemaps say; zero if none says so
}

func (w *discovery) add(l *book.Link) {
	w.Add(membership.PathOf(*l))
	if l.Kind == book.Listed && l.Modified.After(w.changed) {
		w.changed = l.Modified
	}
}

// add adds a URL to the discoveries: an entry for the frontier, on behalf of the named collection.
// The parameter w sums up all links of the batch to the URL. If a sitemap says when the page has
// changed, add also records this change in the discoveries.
func (all *discoveries) add(s *settings.Settings, collection string, target address.Address, w *discovery) error {
	crawl, err := s.Crawl.Decide(target)
	if err != nil {
		return err
	}
	e := frontier.Entry{
		URL: target.URL, ID: target.ID, Host: target.Host,
		Depth: w.Depth, Hops: w.Hops, Weight: w.Weight, Sitemap: w.Kind == book.Sitemap, Asset: w.Kind == book.Asset, Collection: collection,
	}
	if len(s.Collections) > 1 && !e.Sitemap {
		e.Tally, e.Claimed = s.CollectionTally(collection), s.Claims(collection, target, e.Depth, e.Hops)
	}
	all.admitted[crawl] = append(all.admitted[crawl], e)
	if !w.changed.IsZero() {
		all.changed = append(all.changed, change{target, e.Weight, w.changed})
	}
	return nil
}

// class is a package that pack writes for one class of pages: those that are expected to stay valid
// equally long.
type class struct {
	pkg      webobject.Package
	outcomes []*book.Outcome // outcomes of the pages: outcomes[i] is that of the page in pkg.Runs[i]
}

// classes divides the pages of spool objects among packages. Pages that are expected to stay valid
// equally long (see webobject.Lifetime) come into the same package. They stay in the order of the
// spool objects, so that packing again gives the same bytes.
func classes(spools []spool.Spool) []*class {
	var all []*class
	byExponent := make(map[int16]*class)
	for i := range spools {
		for _, page := range spools[i].Pages {
			outcome := &spools[i].Ledger.Outcomes[page.Outcome]
			c, found := byExponent[outcome.Exponent]
			if !found {
				c = &class{pkg: webobject.Package{Base: webobject.ExpiryBase, Exponent: outcome.Exponent}}
				byExponent[outcome.Exponent] = c
				all = append(all, c)
			}
			c.add(page.Run, outcome)
		}
	}
	return all
}

// add adds a page to the package that c stands for. The package gets the download time and the
// expiry date of the page that was downloaded last.
func (c *class) add(run webobject.Run, outcome *book.Outcome) {
	c.pkg.Runs = append(c.pkg.Runs, run)
	c.outcomes = append(c.outcomes, outcome)
	if outcome.Time.After(c.pkg.Created) {
		c.pkg.Created = outcome.Time
		c.pkg.Expires = outcome.Time.Add(webobject.Lifetime(outcome.Exponent))
	}
}

// settingsFor returns the settings in force, usually from a cache. The manifest says which version of
// the takedowns was applied to the partition. If the takedowns in the cached settings are older,
// settingsFor reads the settings anew. It fails if these are older, too, because nothing could be committed then.
func (f *Function) settingsFor(ctx context.Context, m *manifest.Manifest) (*settings.Settings, error) {
	s, err := f.Settings.Get(ctx)
	if err == nil && s.Takedowns.Version < m.Forgotten {
		s, err = f.Settings.Renew(ctx)
	}
	if err == nil && s.Takedowns.Version < m.Forgotten {
		err = fmt.Errorf("partition %s has applied version %d of the takedowns, but %d is the last that can be read", m.Partition, m.Forgotten, s.Takedowns.Version)
	}
	return s, err
}

// withoutForgotten removes from the spool objects, in memory, the pages, outcomes and links that
// the given takedowns forget. A spool object of which nothing is left stays in the slice, because
// its batch is to be listed as consumed (packed) like all others.
func withoutForgotten(spools []spool.Spool, set takedown.Set) {
	if set.Empty() {
		return
	}
	filter := forget.New(set)
	for i := range spools {
		for _, o := range spools[i].Ledger.Outcomes {
			filter.See(o)
		}
	}
	for i := range spools {
		strip(&spools[i], filter)
	}
}

// strip removes from a spool object all pages, outcomes and links that the filter forgets. A page
// refers to its outcome by the outcome's index. So strip changes these indices in the pages that
// remain.
func strip(s *spool.Spool, filter *forget.Filter) {
	var outcomes []book.Outcome
	moved := make(map[int]int, len(s.Ledger.Outcomes))
	for i, o := range s.Ledger.Outcomes {
		if filter.Outcome(&o) {
			moved[i] = len(outcomes)
			outcomes = append(outcomes, o)
		}
	}
	s.Pages = slices.DeleteFunc(s.Pages, func(p spool.Page) bool { _, kept := moved[p.Outcome]; return !kept })
	for i := range s.Pages {
		s.Pages[i].Outcome = moved[s.Pages[i].Outcome]
	}
	s.Ledger.Outcomes = outcomes
	s.Ledger.Links = slices.DeleteFunc(s.Ledger.Links, func(l book.Link) bool { return !filter.Link(&l) })
}

// gonePages returns the pages that are gone: they were stored once, and their last request failed
// or was skipped. The outcome of such a page has the state Failed or Skipped, and the digest (hash
// of the text) of the page that was stored.
func gonePages(spools []spool.Spool) (gone []manifest.Gone) {
	for i := range spools {
		for _, o := range spools[i].Ledger.Outcomes {
			if o.Digest != 0 && (o.State == book.Failed || o.State == book.Skipped) {
				gone = append(gone, manifest.Gone{ID: o.Identity(), Version: o.Version})
			}
		}
	}
	return gone
}
