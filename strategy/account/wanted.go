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

// leadsNowhere reports whether a URL leads to another URL that has failed since. The parameter last
// is the last outcome of the first URL: a redirect to the other URL, or a page that names it as its
// canonical address. If leadsNowhere returns true, the first URL is requested again, because it may
// lead elsewhere by now, or be a page itself.
func (j judge) leadsNowhere(last book.Outcome) bool {
	return slices.ContainsFunc(j.settings.LedTo(last), func(id layout.Identity) bool {
		f := j.account.of(id).urls[id]
		return f != nil && FailedSince(f.standing, last)
	})
}

// FailedSince reports whether a URL has failed since another URL led to it. s holds the outcomes
// that determine the state of the URL. The parameter other is the outcome of the other URL, which
// redirects to the URL, or names it as its canonical address. Only a failure in a newer batch than
// that of other counts.
func FailedSince(s book.Standing, other book.Outcome) bool {
	return s.Final != nil && s.Final.State == book.Failed && s.Final.Version.Compare(other.Version) > 0
}

// askAgain sets u.Wanted and the other fields for a new request (see want), so that the URL is
// requested again now. The request is on behalf of the first collection in the URL's last final
// outcome that still admits the URL. If there is none, nothing changes.
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

// another looks for a collection that admits the URL, although the last request was not made on
// behalf of it. If there is such a collection, another sets the fields of u (see want) for a new
// request on behalf of that collection, and returns true.
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

// want sets the fields of u that describe a new request by the path w: Admitted, Collection,
// Sitemap, Asset, Depth, Hops and Weight, but not Wanted. The URL must have a final outcome.
func (j judge) want(u *URL, w membership.Path) {
	u.along(w)
	u.Admitted, u.Sitemap = true, membership.IsSitemap(u.Final)
}
