package pack

import (
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// found is what the links of a batch bring to the frontiers.
type found struct {
	admitted map[int][]frontier.Entry   // by crawl partition, each URL once a collection
	targets  map[string]address.Address // what is admitted, by URLs
	changed  []change
}

// change is a page of which a sitemap says that it has changed.
type change struct {
	page   address.Address
	weight uint8
	at     time.Time
}

// decide returns what the links bring to the frontiers, by the outcomes of the
// pages on which they are (see membership.Members.Assign): of the ways to a URL
// the membership.Best of each collection for which it waits.
func decide(s *settings.Settings, links []book.Link, pages []membership.Page) (found, error) {
	all := found{admitted: make(map[int][]frontier.Entry), targets: make(map[string]address.Address)}
	byCollection := make(map[string]map[string]*way)
	_, err := s.Assign(links, pages, func(l *book.Link, target address.Address) {
		all.targets[target.URL] = target
		by := membership.WayOf(*l)
		for _, name := range s.Waiting(by, target) {
			if by.Collection = name; s.HoldsBack(by, target) {
				continue // a rebuild finds it in the books
			}
			if byCollection[name] == nil {
				byCollection[name] = make(map[string]*way)
			}
			w := byCollection[name][target.URL]
			if w == nil {
				w = new(way)
				byCollection[name][target.URL] = w
			}
			w.add(l)
		}
	})
	if err != nil {
		return found{}, err
	}
	for _, name := range slices.SortedFunc(maps.Keys(byCollection), s.Compare) { // the same order every time
		ways := byCollection[name]
		for _, url := range slices.Sorted(maps.Keys(ways)) {
			if err := all.add(s, name, all.targets[url], ways[url]); err != nil {
				return found{}, err
			}
		}
	}
	return all, nil
}

// way is what the links of a collection say of one URL.
type way struct {
	membership.Best
	changed time.Time // the latest that sitemaps tell, zero if none does
}

func (w *way) add(l *book.Link) {
	w.Add(membership.WayOf(*l))
	if l.Kind == book.Listed && l.Modified.After(w.changed) {
		w.changed = l.Modified
	}
}

func (all *found) add(s *settings.Settings, collection string, target address.Address, w *way) error {
	crawl, err := s.Crawl.Decide(target)
	if err != nil {
		return err
	}
	e := frontier.Entry{
		URL: target.URL, ID: target.ID, Host: target.Host,
		Depth: w.Depth, Hops: w.Hops, Weight: w.Weight, Sitemap: w.Kind == book.Sitemap, Collection: collection,
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
