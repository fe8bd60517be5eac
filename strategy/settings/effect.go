package settings

import (
	"reflect"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Effect says what a change of settings does to the frontiers. The zero Effect does nothing.
type Effect struct {
	// All says that any URL may be decided differently, so that all URLs must be judged again. The
	// other fields do not matter then.
	All bool
	// Taken are URLs that takedowns hide or forget, and did not before.
	Taken []layout.Identity
	// Judge has the ranges of the hash space whose URLs must be judged again. Each URL in them that was
	// admitted, and that no takedown names, is still admitted, and has the same place in the order of
	// requests or an earlier one.
	Judge []layout.Range
}

// Difference returns the effect of a change from the settings before to the settings after:
//
//	what is new                                               effect
//	a URL that takedowns hide or forget                       Taken
//	a site that takedowns hide or forget                      Judge: the site
//	a seed whose scope is within its site                     Judge: the site
//	a sitemap                                                 Judge: its URL
//	another collection, beside at least two, with such seeds  Judge: their sites
//	anything else that the fingerprint covers                 All
//
// "Anything else" is, among others: a change of strategies, patterns, scopes, limits of pages,
// schedules, or of the times Again and Renew; a seed, collection or takedown that is taken away; a seed with the scope of the whole web,
// since links to any site may be known; a change that alters the rank of a collection among others (see
// membership.Members.Compare); and a second collection, because pages are counted by collection from
// then on.
func Difference(before, after *Settings) Effect {
	var e Effect
	if before.Fingerprint() == after.Fingerprint() {
		return e
	}
	if !reflect.DeepEqual(before.Crawl.Rules, after.Crawl.Rules) || !reflect.DeepEqual(before.Storage.Rules, after.Storage.Rules) ||
		!reflect.DeepEqual(before.Only, after.Only) || !e.takedowns(before, after) || !e.collections(before, after) {
		return Effect{All: true}
	}
	return e
}

// takedowns adds the effect of new takedowns. It returns false if some are taken back.
func (e *Effect) takedowns(before, after *Settings) bool {
	urls, sites, more := after.Takedowns.Hidden().Beyond(before.Takedowns.Hidden())
	final, finalSites, moreFinal := after.Takedowns.Beyond(before.Takedowns)
	e.Taken = slices.Concat(urls, final)
	for _, site := range slices.Concat(sites, finalSites) {
		e.Judge = append(e.Judge, layout.RangeOfSite(site))
	}
	return more && moreFinal
}

// collections adds the effect of changed and new collections. It returns false if URLs may be refused
// that were admitted, or if sites other than those of the new seeds are concerned.
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
			if !isOnlyMore(was, c) || len(after.Collections) > 1 && before.Rank(c.Name) != after.Rank(c.Name) {
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

// isOnlyMore reports whether a collection has changed only by more seeds and sitemaps.
func isOnlyMore(was, is collection.Collection) bool {
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

// begins adds the sites of those seeds, and the URLs of those sitemaps, that a collection has now and
// did not have. It returns false if a seed's scope is the whole web.
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
