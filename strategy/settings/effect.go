package settings

import (
	"reflect"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Effect says what must be done to the frontiers (queues of URLs to request) after a change of settings. The zero
// Effect means that nothing must be done.
type Effect struct {
	// All is true if the decision on any URL may have changed, so that all URLs must be judged again, by a
	// rebuild. The other fields have no meaning then.
	All bool
	// Taken are the URLs that takedowns hide or forget now, and did not before. They are removed.
	Taken []layout.Identity
	// Judge has the ranges of the hash space whose URLs must be judged again. A URL in them that was admitted is
	// still admitted, unless a takedown names it or its site, and is requested in the same order as before or
	// earlier.
	Judge []layout.Range
	// Due is true if URLs with a final outcome may have become due (see membership.Members.Due). All are searched for
	// those that are.
	Due bool
	// Moved are the crawl partitions that gain or lose URLs, in ascending order. Their frontiers must be rebuilt.
	Moved []int
}

// Difference returns the effect of a change from the settings before to the settings after:
//
//	what is new                                               effect
//	a URL that takedowns hide or forget                       Taken: the URL
//	a site that takedowns hide or forget                      Judge: the range of the site
//	a takedown is taken back                                  Judge: the range of the URL or site
//	a seed whose scope is not the whole web                   Judge: the ranges of its sites
//	a sitemap                                                 Judge: the range of its URL
//	a later time Again or Renew                               Due
//	a collection, if there were two or more before            Judge: the ranges of its seeds and sitemaps
//	other ranges of crawl partitions (see rules.Moved)        Moved: the partitions
//	other ranges of storage partitions                        nothing, as frontiers do not depend on them
//	anything else in the fingerprint (see Fingerprint)        All
//
// Examples of the last row:
//
//	a change of other rules of strategies, of patterns, scopes, limits of pages or schedules
//	a seed, sitemap or collection is taken away
//	a takedown of a URL is taken back whose place is not known (see takedown.Set.PlaceOf)
//	a seed whose scope is the whole web, because known links may lead to any site
//	a change of the rank of a collection that was there before (see membership.Members.Compare)
//	a second collection, because from then on pages are counted by collection
func Difference(before, after *Settings) Effect {
	var e Effect
	if before.Fingerprint() == after.Fingerprint() {
		return e
	}
	if !e.strategies(before, after) || !reflect.DeepEqual(before.Only, after.Only) || !e.takedowns(before, after) || !e.collections(before, after) {
		return Effect{All: true}
	}
	return e
}

// strategies adds the effect of changed strategies. It returns false if other URLs may be refused now, or if any
// crawl partition may have other URLs now.
func (e *Effect) strategies(before, after *Settings) bool {
	told := reflect.DeepEqual(before.Storage.Rules, after.Storage.Rules)
	if !told {
		_, told = rules.Moved(before.Storage, after.Storage)
	}
	if told && !reflect.DeepEqual(before.Crawl.Rules, after.Crawl.Rules) {
		e.Moved, told = rules.Moved(before.Crawl, after.Crawl)
	}
	return told
}

// takedowns adds the effect of new takedowns, and of those that are taken back. It returns false if the place of a
// URL is not known whose takedown is taken back.
func (e *Effect) takedowns(before, after *Settings) bool {
	return e.takedown(before.Takedowns.Hidden(), after.Takedowns.Hidden()) && e.takedown(before.Takedowns, after.Takedowns)
}

func (e *Effect) takedown(before, after takedown.Set) bool {
	urls, sites := after.Beyond(before)
	e.Taken = append(e.Taken, urls...)
	shown, shownSites := before.Beyond(after)
	for _, site := range slices.Concat(sites, shownSites) {
		e.judge(layout.RangeOfSite(site))
	}
	for _, id := range shown {
		place, known := before.PlaceOf(id)
		if !known {
			return false
		}
		e.judge(layout.Range{From: place, To: place + 1})
	}
	return true
}

// collections adds the effect of changed and new collections. It returns false if a URL that was admitted may be
// refused now, or if the change concerns more sites than those of new seeds.
func (e *Effect) collections(before, after *Settings) bool {
	for _, was := range before.Collections {
		if !slices.ContainsFunc(after.Collections, func(c collection.Collection) bool { return c.Name == was.Name }) {
			return false
		}
	}
	for _, c := range after.Collections {
		i := slices.IndexFunc(before.Collections, func(was collection.Collection) bool { return was.Name == c.Name })
		was := collection.Collection{}
		switch {
		case i >= 0:
			was = before.Collections[i]
			if !e.isOnlyMore(was, c) || len(after.Collections) > 1 && before.Rank(c.Name) != after.Rank(c.Name) {
				return false
			}
		case len(before.Collections) < 2 || c.Version > 1: // a collection that is added again may have links everywhere
			return false
		}
		if !e.begins(was, c) {
			return false
		}
	}
	return true
}

// isOnlyMore reports whether a collection differs from before only by further seeds and sitemaps, and by later times
// Again and Renew. It sets Due if these times differ.
func (e *Effect) isOnlyMore(was, is collection.Collection) bool {
	if is.Again.Before(was.Again) || is.Renew.Before(was.Renew) {
		return false
	}
	e.Due = e.Due || is.Again.After(was.Again) || is.Renew.After(was.Renew)
	was.Again, was.Renew, is.Again, is.Renew = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	for _, s := range was.Seeds {
		if !slices.Contains(is.Seeds, s) {
			return false
		}
	}
	for _, url := range was.Sitemaps {
		if !slices.Contains(is.Sitemaps, url) {
			return false
		}
	}
	was.Seeds, was.Sitemaps, is.Seeds, is.Sitemaps = nil, nil, nil, nil
	return reflect.DeepEqual(judged(was), judged(is))
}

// begins adds to Judge the ranges of a collection's new seeds and sitemaps: of a seed its sites, of a sitemap its
// URL. It returns false if the scope of a new seed is the whole web.
func (e *Effect) begins(was, is collection.Collection) bool {
	for _, s := range is.Seeds {
		if slices.Contains(was.Seeds, s) {
			continue
		}
		at, err := collection.ParseSeed(s.URL)
		if err != nil || s.Scope == collection.Any {
			return false
		}
		for _, site := range collection.SitesOf(at) {
			e.judge(layout.PlaceOf(site, at.ID).SiteRange())
		}
	}
	for _, url := range is.Sitemaps {
		if slices.Contains(was.Sitemaps, url) {
			continue
		}
		at, err := address.Parse(url)
		if err != nil {
			return false
		}
		e.judge(layout.Range{From: at.Place, To: at.Place + 1})
	}
	return true
}

func (e *Effect) judge(within layout.Range) {
	if !slices.Contains(e.Judge, within) {
		e.Judge = append(e.Judge, within)
	}
}
