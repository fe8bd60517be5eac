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
				j := judge{settings: a.settings, origins: a.origins.all(), room: make([]reach, 0, 16)}
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

// judge decides by today's collections, whatever was decided when a link was
// found: a wider scope takes up what a narrower one left out.
type judge struct {
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
	j.admit(&u, ways)
	if final == nil || isLost(f.standing) {
		j.claim(&u)
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
		case settings.IsSitemap(*final):
			j.keep(&u, ways)
		case settings.IsForAnother(*final) && len(final.Collections) > 0 && j.another(&u, ways):
			u.State, u.Reason = Pending, ""
		}
	case book.Failed:
		if u.State != Pending || !j.settings.AskAgain(u.Collection, *final) {
			u.State, u.Reason = Failed, final.Reason
		}
	}
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

func (j judge) refusal(r reach, target address.Address) string {
	o := j.origins[r.by]
	return j.settings.Decide(settings.Way{Collection: o.collection, Kind: o.kind, Depth: r.depth, Hops: r.hops, Weight: r.weight}, target)
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
// all.
func (j judge) admit(u *URL, ways []reach) {
	u.State, u.Reason = Skipped, "image"
	for i, r := range ways {
		o := j.origins[r.by]
		if u.Admitted && (o.collection != u.Collection || u.Sitemap != (o.kind == book.Sitemap)) {
			break
		}
		refusal := j.refusal(r, u.Address)
		switch {
		case refusal == "" && u.Admitted:
			if r.band() < bandOf(u.Depth, u.Weight) {
				u.Weight = r.weight
			}
			continue
		case refusal == "":
			u.State, u.Admitted = Pending, true
		case u.Admitted || i > 0:
			continue
		}
		u.Reason, u.Collection, u.Sitemap = refusal, o.collection, o.kind == book.Sitemap
		u.Depth, u.Hops, u.Weight = r.depth, r.hops, r.weight
	}
}

// compare sorts ways by who comes first, and then the shortest first.
func (j judge) compare(r, s reach) int {
	o, p := j.origins[r.by], j.origins[s.by]
	return cmp.Or(
		cmp.Compare(o.rank(), p.rank()),
		cmp.Compare(j.settings.Rank(o.collection), j.settings.Rank(p.collection)),
		cmp.Compare(o.collection, p.collection),
		cmp.Compare(r.depth, s.depth),
		cmp.Compare(r.hops, s.hops),
		cmp.Compare(r.band(), s.band()),
		cmp.Compare(s.weight, r.weight),
		cmp.Compare(o.kind, p.kind),
	)
}
