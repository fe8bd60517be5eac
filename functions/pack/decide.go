package pack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// found is what the links of a batch bring to the frontiers.
type found struct {
	admitted map[int][]frontier.Entry // by crawl partition, each URL once a collection
	changed  []change
}

// change is a page of which a sitemap says that it has changed.
type change struct {
	page   address.Address
	weight uint8
	at     time.Time
}

// decide cleans the target of every link and gives the link to its collection,
// by the outcomes of the pages on which they are (see settings.CleanLinks). It
// returns the links with the decisions written into them, and the URLs that are
// admitted: each, for each collection, at the smallest depth of its links, with
// the weight of the one that has it asked for first, and as a sitemap if any
// says so. A link to what is forgotten must not go on record.
func decide(s *settings.Settings, links []book.Link, pages []book.Outcome) (found, []book.Link, error) {
	links = s.CleanLinks(links, pages)
	d := decider{settings: s, targets: make(map[string]address.Address), ways: make(map[string]map[string]way)}
	for i := range links {
		if err := d.link(&links[i]); err != nil {
			return found{}, nil, err
		}
	}
	all := found{admitted: make(map[int][]frontier.Entry)}
	byRank := func(a, b string) int { return cmp.Or(cmp.Compare(s.Rank(a), s.Rank(b)), cmp.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(d.ways), byRank) { // the same order every time
		ways := d.ways[name]
		for _, url := range slices.Sorted(maps.Keys(ways)) {
			w := ways[url]
			crawl, err := s.Crawl.Decide(d.targets[url])
			if err != nil {
				return found{}, nil, err
			}
			if len(s.Collections) > 1 && !w.entry.Sitemap {
				sure, _ := s.Claiming(d.targets[url], w.entry.Depth, w.entry.Hops)
				w.entry.Tally, w.entry.Claimed = s.CollectionTally(name), slices.Contains(sure, name)
			}
			all.admitted[crawl] = append(all.admitted[crawl], w.entry)
			if !w.changed.IsZero() {
				all.changed = append(all.changed, change{d.targets[url], w.entry.Weight, w.changed})
			}
		}
	}
	return all, links, nil
}

type decider struct {
	settings *settings.Settings
	targets  map[string]address.Address // parsed once
	ways     map[string]map[string]way  // of collections to what is admitted
}

func (d *decider) link(l *book.Link) error {
	if l.Kind == book.Image {
		l.Decision = "image"
		return nil
	}
	target, known := d.targets[l.Target]
	if !known {
		var err error
		if target, err = address.Parse(l.Target); err != nil {
			return fmt.Errorf("target %q of a link: %w", l.Target, err)
		}
		d.targets[l.Target] = target
	}
	l.Decision = d.settings.Decide(settings.WayOf(*l), target)
	if l.Decision != "" {
		return nil
	}
	d.add(wayOf(l, target), target)
	return nil
}

// add adds a way to a URL that is admitted. What a collection with a limit of
// pages comes to may wait in vain, so it waits, too, for one that claims it.
func (d *decider) add(w way, target address.Address) {
	e := &w.entry
	names := []string{e.Collection}
	if d.settings.IsLimited(e.Collection) && !e.Sitemap {
		sure, _ := d.settings.Claiming(target, e.Depth, e.Hops)
		names = append(names, sure...)
	}
	for _, name := range names {
		ways := d.ways[name]
		if ways == nil {
			ways = make(map[string]way)
			d.ways[name] = ways
		}
		next := w
		next.entry.Collection = name
		if known, found := ways[e.URL]; found {
			next = known.with(next)
		}
		ways[e.URL] = next
	}
}

// way is the best of what links say of one URL.
type way struct {
	entry   frontier.Entry
	band    int       // of the queue, by the link from which the weight comes
	changed time.Time // the latest that sitemaps tell, zero if none does
}

func wayOf(l *book.Link, target address.Address) way {
	w := way{
		entry: frontier.Entry{
			URL: l.Target, ID: target.ID, Host: target.Host,
			Depth: l.Depth, Hops: l.Hops, Weight: l.Weight, Sitemap: l.Kind == book.Sitemap, Collection: l.Collection,
		},
		band: band(l.Depth, l.Weight),
	}
	if l.Kind == book.Listed {
		w.changed = l.Modified
	}
	return w
}

// with adds another way of the collection to the same URL, in any order.
func (w way) with(other way) way {
	both := w
	if o := other.entry; o.Depth < w.entry.Depth || o.Depth == w.entry.Depth && o.Hops < w.entry.Hops {
		both.entry = o
	}
	both.entry.Weight = w.entry.Weight
	if other.band < w.band || other.band == w.band && other.entry.Weight > w.entry.Weight {
		both.entry.Weight, both.band = other.entry.Weight, other.band
	}
	both.entry.Sitemap = w.entry.Sitemap || other.entry.Sitemap
	if other.changed.After(w.changed) {
		both.changed = other.changed
	}
	return both
}

// band is the one in which the frontier queues such a URL; 0 is asked first.
func band(depth uint16, weight uint8) int {
	if weight == 0 {
		return int(min(depth, 15))
	}
	return 15 - int(weight)/16
}
