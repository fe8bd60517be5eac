package account

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// keep tells, of what is kept, whether it is to be asked for on behalf of a
// collection to which that brings more, or else whether any of its own still
// wants it.
func (j judge) keep(u *URL, ways []reach) {
	if len(u.Final.Collections) == 0 {
		return
	}
	if u.Wanted = j.newSeed(u, ways) || j.another(u, ways); u.Wanted || u.Admitted {
		return
	}
	if still := j.settings.Still(u.Final, u.Address); len(still) > 0 {
		j.want(u, j.lastWay(u, still[0]))
	}
}

// leadsNowhere reports whether the page to which a URL leads has failed since it
// was found to lead there: it may lead elsewhere by now, or be a page of its own.
func (j judge) leadsNowhere(last book.Outcome) bool {
	return slices.ContainsFunc(j.settings.LedTo(last), func(id layout.Identity) bool {
		f := j.account.of(id).urls[id]
		return f != nil && Deserts(f.standing, last)
	})
}

// Deserts reports whether a URL has failed since another was found to lead to it.
func Deserts(s book.Standing, other book.Outcome) bool {
	return s.Final != nil && s.Final.State == book.Failed && s.Final.Version.Compare(other.Version) > 0
}

// askAgain has a URL asked for at once on behalf of a collection for which it was,
// if any still wants it.
func (j judge) askAgain(u *URL) {
	if still := j.settings.Still(u.Final, u.Address); len(still) > 0 {
		j.want(u, j.lastWay(u, still[0]))
		u.Wanted = true
	}
}

// newSeed finds a collection of which a page has become a seed since it was had
// as one that is deeper: its links were farther from a seed than they are now.
func (j judge) newSeed(u *URL, ways []reach) bool {
	if u.Final.Depth == 0 || membership.IsSitemap(u.Final) {
		return false
	}
	for _, r := range ways {
		if way := j.way(r); way.Kind == 0 && j.settings.Decide(way, u.Address) == "" {
			j.want(u, way)
			return true
		}
	}
	return false
}

// another finds a collection that wants a URL which was asked for on behalf of
// others alone.
func (j judge) another(u *URL, ways []reach) bool {
	for _, r := range ways {
		way := j.way(r)
		isOwn := slices.Contains(u.Final.Collections, way.Collection)
		if !isOwn && (way.Kind == book.Sitemap) == membership.IsSitemap(u.Final) && j.settings.Decide(way, u.Address) == "" {
			j.want(u, way)
			return true
		}
	}
	name := j.settings.Lacking(u.Final, u.Address)
	if name != "" {
		j.want(u, j.lastWay(u, name))
	}
	return name != ""
}

// lastWay is as deep as the URL was when it was last asked for.
func (j judge) lastWay(u *URL, collection string) membership.Way {
	return membership.Way{Collection: collection, Depth: u.Final.Depth, Hops: u.Final.Hops, Weight: u.Final.Weight}
}

// want has what is kept asked for, when it is, by a way.
func (j judge) want(u *URL, w membership.Way) {
	u.along(w)
	u.Admitted, u.Sitemap = true, membership.IsSitemap(u.Final)
}
