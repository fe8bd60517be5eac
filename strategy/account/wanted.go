package account

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// keep sets these fields of a URL that is stored or was read as a sitemap:
//
//	Wanted    true if a collection needs a new request: the page became its seed, or
//	          was only requested for other collections so far
//	Admitted  true if Wanted is, or if one of the collections for which the URL was
//	          requested still admits it
func (j judge) keep(u *URL, paths []reach) {
	if len(u.Final.Collections) == 0 {
		return
	}
	if u.Wanted = j.newSeed(u, paths) || j.another(u, paths); u.Wanted || u.Admitted {
		return
	}
	if still := j.settings.Still(u.Final, u.Address); len(still) > 0 {
		j.want(u, j.lastPath(u, still[0]))
	}
}

// leadsNowhere reports whether the last outcome of a URL is a redirect to another URL that
// has failed since, or names such a URL as the canonical address. Then the first URL is
// requested again: it may lead elsewhere by now, or be a page itself.
func (j judge) leadsNowhere(last book.Outcome) bool {
	return slices.ContainsFunc(j.settings.LedTo(last), func(id layout.Identity) bool {
		f := j.account.of(id).urls[id]
		return f != nil && FailedSince(f.standing, last)
	})
}

// FailedSince reports whether a URL has failed in a later batch than the one with the outcome
// other. s holds those outcomes of the URL that count. The outcome other is that of a second URL,
// which redirects to the first one, or names it as its canonical address.
func FailedSince(s book.Standing, other book.Outcome) bool {
	return s.Final != nil && s.Final.State == book.Failed && s.Final.Version.Compare(other.Version) > 0
}

// askAgain makes the URL be requested again now, on behalf of the first collection in its last
// final outcome that still admits it: it sets u.Wanted and the other fields for this request (see
// want). If no collection admits the URL, nothing changes.
func (j judge) askAgain(u *URL) {
	if still := j.settings.Still(u.Final, u.Address); len(still) > 0 {
		j.want(u, j.lastPath(u, still[0]))
		u.Wanted = true
	}
}

// newSeed looks for a collection of which the URL is a seed now, although the URL was requested at
// a depth above 0 the last time. If there is one that admits the URL, newSeed sets the fields of u
// (see want) for a new request on behalf of that collection, and returns true. The new request
// gives the links of the page their smaller depth.
func (j judge) newSeed(u *URL, paths []reach) bool {
	if u.Final.Depth == 0 || membership.IsSitemap(u.Final) {
		return false
	}
	for _, r := range paths {
		if path := j.path(r); path.Kind == 0 && j.settings.Decide(path, u.Address) == "" {
			j.want(u, path)
			return true
		}
	}
	return false
}

// another looks for a collection that admits the URL, but is not among those for which the last
// request was made. If there is one, another sets the fields of u (see want) for a new request on
// behalf of that collection, and returns true.
func (j judge) another(u *URL, paths []reach) bool {
	for _, r := range paths {
		path := j.path(r)
		isOwn := slices.Contains(u.Final.Collections, path.Collection)
		if !isOwn && (path.Kind == book.Sitemap) == membership.IsSitemap(u.Final) && j.settings.Decide(path, u.Address) == "" {
			j.want(u, path)
			return true
		}
	}
	name := j.settings.Lacking(u.Final, u.Address)
	if name != "" {
		j.want(u, j.lastPath(u, name))
	}
	return name != ""
}

// lastPath returns a path with the depth, redirects and weight of the last request for a URL,
// and with the given collection.
func (j judge) lastPath(u *URL, collection string) membership.Path {
	return membership.Path{Collection: collection, Depth: u.Final.Depth, Hops: u.Final.Hops, Weight: u.Final.Weight}
}

// want sets the fields of a URL for a new request by the path w: Admitted, Collection, Sitemap,
// Asset, Depth, Hops and Weight, but not Wanted. The URL must have a final outcome.
func (j judge) want(u *URL, w membership.Path) {
	u.along(w)
	u.Admitted, u.Sitemap = true, membership.IsSitemap(u.Final)
}
