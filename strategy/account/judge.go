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

// All yields every URL once, in no order. Nothing may be added meanwhile. An
// error, of a URL in the books that is none, comes instead of the URL.
func (a *Account) All() iter.Seq2[URL, error] {
	return func(yield func(URL, error) bool) {
		work, judged, stop := make(chan *shard), make(chan []judgement), make(chan struct{})
		var workers sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				j := judge{account: a, settings: a.settings, origins: a.origins.all(), room: make([]reach, 0, 16)}
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
			for range judged { // until the workers are gone
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

type judgement struct {
	url URL
	err error
}

// judge decides once more, by today's collections, whatever was decided when a
// link was found: a wider scope takes up what a narrower one left out.
type judge struct {
	account  *Account
	settings *settings.Settings
	origins  []origin // of ways, by their numbers
	room     []reach  // for the ways to one URL
}

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
	ways := j.ways(f.reach, more)
	way := j.admit(&u, ways)
	if final == nil || isLost(f.standing) {
		if u.State == Pending {
			u.Collection = j.settings.Waiting(way, target)[0]
		}
		j.setApart(&u)
		return u, nil
	}
	u.Final = *final
	switch final.State {
	case book.Stored, book.Unchanged:
		u.State, u.Reason, u.Page = Stored, "", f.standing.Page
		j.keep(&u, ways)
	case book.Skipped:
		u.State, u.Reason = Skipped, final.Reason
		switch {
		case membership.IsSitemap(*final):
			j.keep(&u, ways)
		case membership.IsForAnother(*final) && len(final.Collections) > 0 && j.another(&u, ways):
			u.State, u.Reason = Pending, ""
		case j.leadsNowhere(u.Final):
			j.askAgain(&u)
		}
	case book.Failed:
		if u.State != Pending || !j.settings.AskAgain(u.Collection, *final) {
			u.State, u.Reason = Failed, final.Reason
		}
	}
	j.setApart(&u)
	return u, nil
}

// isLost reports whether all that was final is taken back. A page that did not
// change since it was lost is lost.
func isLost(s book.Standing) bool {
	switch s.Final.State {
	case book.Lost:
		return true
	case book.Unchanged:
		return s.Page != nil && s.Page.State == book.Lost
	}
	return false
}

// way is what a reach stands for.
func (j judge) way(r reach) membership.Way {
	o := j.origins[r.by]
	return membership.Way{Collection: o.collection, Kind: o.kind, Depth: r.depth, Hops: r.hops, Weight: r.weight}
}

// ways returns those that lead to a URL, but by images, in the order in which
// they are heard; until it is called again.
func (j judge) ways(first reach, more []reach) []reach {
	if first.by <= anImage {
		return nil
	}
	ways := append(append(j.room, first), more...)
	if len(more) > 0 {
		slices.SortFunc(ways, j.compare)
	}
	return ways
}

// admit tells whether the URL would be asked for if it never had been, and on
// behalf of whom: of the first collection that admits it, as a sitemap before
// all. It returns the way.
func (j judge) admit(u *URL, ways []reach) (best membership.Way) {
	u.State, u.Reason = Skipped, membership.Image
	if len(ways) == 0 {
		return best
	}
	j.sortAsking(ways, u.Address)
	var all membership.Best
	for i, r := range ways {
		way := j.way(r)
		if u.Admitted && (way.Collection != all.Collection || (way.Kind == book.Sitemap) != (all.Kind == book.Sitemap)) {
			break
		}
		refusal := j.settings.Decide(way, u.Address)
		if refusal == membership.NoPartition {
			refusal, u.Apart = "", refusal // it waits for a strategy that has one
		}
		switch {
		case refusal == "":
			u.State, u.Reason, u.Admitted = Pending, "", true
			all.Add(way)
		case i == 0:
			u.Reason = refusal
		}
	}
	if !u.Admitted {
		all.Add(j.way(ways[0]))
	}
	u.along(all.Way)
	return all.Way
}

// along has the URL asked for, if it is, by a way.
func (u *URL) along(w membership.Way) {
	u.Collection, u.Sitemap = w.Collection, w.Kind == book.Sitemap
	u.Depth, u.Hops, u.Weight = w.Depth, w.Hops, w.Weight
}

// sortAsking puts the ways behind that are held back.
func (j judge) sortAsking(ways []reach, target address.Address) {
	if j.settings.Only == nil || len(ways) < 2 {
		return
	}
	held := func(r reach) int {
		if j.settings.HoldsBack(j.way(r), target) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(ways, func(a, b reach) int { return held(a) - held(b) })
}

// setApart tells of what is admitted whether it is held back.
func (j judge) setApart(u *URL) {
	way := membership.Way{Collection: u.Collection, Depth: u.Depth, Hops: u.Hops}
	if u.Sitemap {
		way.Kind = book.Sitemap
	}
	if u.Admitted && u.Apart == "" && j.settings.HoldsBack(way, u.Address) {
		u.Apart = membership.HeldBack
	}
}

// compare sorts ways by who comes first, and then the shortest first.
func (j judge) compare(r, s reach) int {
	o, p := j.origins[r.by], j.origins[s.by]
	return cmp.Or(
		cmp.Compare(o.rank(), p.rank()),
		j.settings.Compare(o.collection, p.collection),
		cmp.Compare(r.depth, s.depth),
		cmp.Compare(r.hops, s.hops),
		cmp.Compare(s.weight, r.weight),
		cmp.Compare(o.kind, p.kind),
	)
}
