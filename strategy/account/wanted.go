package account

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
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
		j.want(u, still[0], u.Final.Depth, u.Final.Hops, u.Final.Weight)
	}
}

// newSeed finds a collection of which a page has become a seed since it was had
// as one that is deeper: its links were farther from a seed than they are now.
func (j judge) newSeed(u *URL, ways []reach) bool {
	if u.Final.Depth == 0 || settings.IsSitemap(u.Final) {
		return false
	}
	for _, r := range ways {
		if o := j.origins[r.by]; o.kind == 0 && j.refusal(r, u.Address) == "" {
			j.want(u, o.collection, r.depth, r.hops, r.weight)
			return true
		}
	}
	return false
}

// another finds a collection that wants a URL which was asked for on behalf of
// others alone.
func (j judge) another(u *URL, ways []reach) bool {
	for _, r := range ways {
		o := j.origins[r.by]
		isOwn := slices.Contains(u.Final.Collections, o.collection)
		if !isOwn && (o.kind == book.Sitemap) == settings.IsSitemap(u.Final) && j.refusal(r, u.Address) == "" {
			j.want(u, o.collection, r.depth, r.hops, r.weight)
			return true
		}
	}
	name := j.settings.Lacking(u.Final, u.Address)
	if name != "" {
		j.want(u, name, u.Final.Depth, u.Final.Hops, u.Final.Weight)
	}
	return name != ""
}

// want has the URL asked for, when it is, on behalf of the collection.
func (j judge) want(u *URL, collection string, depth uint16, hops, weight uint8) {
	u.Admitted, u.Collection, u.Sitemap = true, collection, settings.IsSitemap(u.Final)
	u.Depth, u.Hops, u.Weight = depth, hops, weight
}

// claim has a page that waits on behalf of a collection with a limit wait for
// one without, if any claims it.
func (j judge) claim(u *URL) {
	if u.State != Pending || u.Sitemap || !j.settings.IsLimited(u.Collection) {
		return
	}
	found := book.Outcome{State: book.Stored, Depth: u.Depth, Hops: u.Hops, Collections: []string{u.Collection}}
	if name := j.settings.Lacking(found, u.Address); name != "" {
		u.Collection = name
	}
}
