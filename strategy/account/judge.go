package account

import (
	"cmp"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// All yields the state of every URL, in no particular order. For a malformed URL in
// the books it yields an error and goes on. Nothing may be added to the account
// meanwhile.
func (a *Account) All() iter.Seq2[URL, error] {
	return func(yield func(URL, error) bool) {
		work, judged, stop := make(chan *shard), make(chan []judgement), make(chan struct{})
		var workers sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				j := judge{settings: a.settings, origins: a.origins.all(), buffer: make([]reach, 0, 16)}
				for s := range work {
					select {
					case judged <- j.all(s):
					case <-stop:
						return
					}
				}
			})
		}
		go func() {
			defer close(judged)
			defer workers.Wait()
			defer close(work)
			for _, s := range a.shards {
				select {
				case work <- s:
				case <-stop:
					return
				}
			}
		}()
		defer func() {
			close(stop)
			for range judged { // ends when all workers have ended
			}
		}()
		for some := range judged {
			for _, j := range some {
				if !yield(j.url, j.err) {
					return
				}
			}
		}
	}
}

// judgement is the state of a URL, or an error if the URL is malformed.
type judgement struct {
	url URL
	err error
}

// judge computes the states of URLs. It asks the collections in force whether they admit a URL, and
// ignores the decisions recorded in the links to it: a URL that was out of scope may now be in
// scope.
type judge struct {
	settings *settings.Settings
	origins  []origin // all origins of paths; the index of an origin is its number (reach.by)
	buffer   []reach  // memory for the paths to one URL, reused for the next URL
}

// all returns the states of all URLs of a shard.
func (j judge) all(s *shard) []judgement {
	all := make([]judgement, 0, s.len())
	for id, f := range s.urls {
		if f == nil {
			continue
		}
		u, err := j.url(f, s.more[id])
		all = append(all, judgement{u, err})
	}
	return all
}

// url computes the state of one URL from its facts. One path of links to the URL is in f.reach; the
// parameter more holds all others. url fails only if the URL is malformed.
func (j judge) url(f *facts, more []reach) (URL, error) {
	target, err := address.Parse(f.url)
	if err != nil {
		return URL{}, fmt.Errorf("url %q in the books: %w", f.url, err)
	}
	u := URL{Address: target, Discovered: f.reach.by != nobody}
	final, asked := f.standing.Final, f.standing.Asked
	if asked != nil {
		u.Attempts = asked.Attempts
	}
	paths := j.paths(f.reach, more)
	path := j.admit(&u, paths)
	if final == nil || isLost(f.standing) {
		if u.State == Pending {
			u.Collection = j.settings.Waiting(path, target)[0]
		}
		j.setApart(&u)
		return u, nil
	}
	u.Final = *final
	switch final.State {
	case book.Stored, book.Unchanged:
		u.State, u.Reason, u.Page = Stored, "", f.standing.Page
		j.keep(&u, paths)
	case book.Skipped:
		u.State, u.Reason = Skipped, final.Reason
		switch {
		case membership.IsSitemap(*final):
			j.keep(&u, paths)
		case membership.IsForAnother(*final) && len(final.Collections) > 0 && j.another(&u, paths):
			u.State, u.Reason = Pending, ""
		}
	case book.Failed:
		u.State, u.Reason = Failed, final.Reason
	}
	j.setApart(&u)
	return u, nil
}

// isLost reports whether the stored page of a URL is lost. That is so if the last final outcome is
// Lost. It is also so if that outcome is Unchanged, and the page that it found unchanged was lost
// before.
func isLost(s book.Standing) bool {
	switch s.Final.State {
	case book.Lost:
		return true
	case book.Unchanged:
		return s.Page != nil && s.Page.State == book.Lost
	}
	return false
}

// path converts a path to a membership.Path. It takes the collection and the kind of link from the
// path's origin.
func (j judge) path(r reach) membership.Path {
	o := j.origins[r.by]
	return membership.Path{Collection: o.collection, Kind: o.kind, Depth: r.depth, Hops: r.hops, Weight: r.weight}
}

// paths returns all paths to a URL, sorted by compare. The parameter first, the field reach of the
// URL's facts, is one of the paths; the parameter more holds all others (see shard.more). If first.by
// is nobody or anAsset, there is no path, and the result is nil. The result is valid until the next
// call.
func (j judge) paths(first reach, more []reach) []reach {
	if first.by <= anAsset {
		return nil
	}
	paths := append(append(j.buffer, first), more...)
	if len(more) > 0 {
		slices.SortFunc(paths, j.compare)
	}
	return paths
}

// admit decides whether a collection admits the URL u by one of the given paths to it. It tries the
// paths in their order, but paths that are held back come last (see sortAsking). It returns a path,
// and sets fields of u:
//
//	paths to u            result                     u.State    u.Reason             u.Admitted
//	some are admitted     the first admitted path    Pending    ""                   true
//	all are refused       the first path             Skipped    why it is refused    false
//	there are no paths    the zero Path              Skipped    membership.Asset     false
//
// The first admitted path is joined with the other admitted paths of its collection (see
// membership.Best).
// Unless there is no path, admit also copies the result's collection, kind, depth, redirects and
// weight to u (see along).
func (j judge) admit(u *URL, paths []reach) (best membership.Path) {
	u.State, u.Reason = Skipped, membership.Asset
	if len(paths) == 0 {
		return best
	}
	j.sortAsking(paths, u.Address)
	var all membership.Best
	for i, r := range paths {
		path := j.path(r)
		if u.Admitted && (path.Collection != all.Collection || membership.Rank(path.Kind) != membership.Rank(all.Kind)) {
			break
		}
		refusal := j.settings.Decide(path, u.Address)
		if refusal == membership.NoPartition {
			refusal, u.Apart = "", refusal // the URL waits for a strategy with a partition for it
		}
		switch {
		case refusal == "":
			u.State, u.Reason, u.Admitted = Pending, "", true
			all.Add(path)
		case i == 0:
			u.Reason = refusal
		}
	}
	if !u.Admitted {
		all.Add(j.path(paths[0]))
	}
	u.along(all.Path)
	return all.Path
}

// along sets the fields of the URL that describe the path by which it is requested:
// Collection, Sitemap, Asset, Depth, Hops and Weight.
func (u *URL) along(w membership.Path) {
	u.Collection, u.Sitemap, u.Asset = w.Collection, w.Kind == book.Sitemap, w.Kind == book.Asset
	u.Depth, u.Hops, u.Weight = w.Depth, w.Hops, w.Weight
}

// sortAsking moves the paths that are held back behind all others, and otherwise keeps the order. A
// path is held back while the crawl is limited to some collections or seeds that do not admit the URL
// by this path (see membership.Members.HoldsBack).
func (j judge) sortAsking(paths []reach, target address.Address) {
	if j.settings.Only == nil || len(paths) < 2 {
		return
	}
	held := func(r reach) int {
		if j.settings.HoldsBack(j.path(r), target) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(paths, func(a, b reach) int { return held(a) - held(b) })
}

// setApart sets u.Apart to membership.HeldBack if the URL is admitted, but the crawl is limited to
// some collections or seeds and the URL belongs to none of these. Such a URL is not requested. If
// u.Apart has another value already, it stays.
func (j judge) setApart(u *URL) {
	path := membership.Path{Collection: u.Collection, Depth: u.Depth, Hops: u.Hops}
	if u.Sitemap {
		path.Kind = book.Sitemap
	}
	if u.Admitted && u.Apart == "" && j.settings.HoldsBack(path, u.Address) {
		u.Apart = membership.HeldBack
	}
}

// compare compares two paths for sorting, the preferred one first: by the kind of the last
// link (sitemaps, pages, assets), then by collection (see membership.Compare), then by
// depth, redirects and weight.
func (j judge) compare(r, s reach) int {
	o, p := j.origins[r.by], j.origins[s.by]
	return cmp.Or(
		cmp.Compare(membership.Rank(o.kind), membership.Rank(p.kind)),
		j.settings.Compare(o.collection, p.collection),
		cmp.Compare(r.depth, s.depth),
		cmp.Compare(r.hops, s.hops),
		cmp.Compare(s.weight, r.weight),
		cmp.Compare(o.kind, p.kind),
	)
}
