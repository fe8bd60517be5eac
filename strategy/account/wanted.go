package account

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// keep sets two fields of a URL that is stored or was read as a sitemap. A field is true if one of
// its conditions holds:
//
//	Wanted    - the URL has become a seed of a collection
//	          - a collection wants the URL, but the URL's last request was not made for it
//	Admitted  - Wanted is true
//	          - a path of links to the URL is admitted
//	          - a collection for which the URL was last requested still admits it
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

// newSeed handles a URL that has become a seed of a collection since its last request, at which its
// depth was above 0. The URL must be requested again, because the depth of its page's links is 1 now.
// If such a collection admits the URL, newSeed sets the fields of u for this request (see want), and
// returns true.
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

// another looks for a collection that admits the URL, and is not among those for which the URL was
// last requested. If it finds one, it sets the fields of u (see want) for a new request on behalf of
// this collection, and returns true.
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

// want sets the fields of u that describe a new request for a URL with a final outcome. Admitted
// becomes true. Collection, Asset, Depth, Hops and Weight come from the path w. Sitemap becomes true
// if the URL was a sitemap at its last request, else false. Only the field Wanted (whether the
// request is to be made) is left to the caller.
func (j judge) want(u *URL, w membership.Path) {
	u.along(w)
	u.Admitted, u.Sitemap = true, membership.IsSitemap(u.Final)
}
