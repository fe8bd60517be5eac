package simulation

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// changed is the small site after changes: one page has another text and a link to a new page,
// one is gone, one has moved, and one is forbidden by robots.txt. The others are the same.
var changed = func() *site {
	s := *small
	s.robots += "Disallow: /notes.txt\n"
	s.pages = maps.Clone(small.pages)
	s.pages["one.example/gull"] = page{words: "a gull and a tern on the pier", links: []string{"/gull/2", "/tern"}}
	s.pages["one.example/tern"] = page{words: "tern, no heron"}
	s.pages["one.example/gull/3"] = page{to: "/gull/2"}
	delete(s.pages, "two.example/reed/bittern")
	return &s
}()

// revisit returns a life (a kind of run) that begins with a crawled site as its state, and crawls
// the site again after it has changed.
func revisit(from *state) life {
	return life{
		name: "revisit", plan: plan{site: small, from: from}, classes: 2, rare: revisits,
		begin: func(w *world) { w.revisit(changed) }, asks: true,
	}
}

// revisit replaces the site by a changed one, and has all pages requested again. A page that is
// missing now counts as gone only after a second request, which follows some time later. So revisit
// advances the clock, and waits for these second requests. At the end, it has all pages requested
// one last time, by a schedule that allows no requests after that. So the number of requests does
// not depend on how long the simulation goes on.
func (w *world) revisit(now *site) {
	w.t.Helper()
	w.site, w.web.site = now, now
	w.renew("")
	w.settle(longest)
	w.clock.Advance(cleared)
	w.settle(longest)
	w.renew("once")
}

// renew makes all pages of all collections be requested now, and then by the given schedule.
func (w *world) renew(s collection.Schedule) {
	w.t.Helper()
	for _, c := range slices.Clone(w.inForce.Collections) {
		functionstest.Republish(w.t, w.store, c, func(c *collection.Collection) {
			c.Renew, c.Schedule = w.clock.Now(), s
		})
	}
	w.reread()
}

// TestRevisit checks the result of a second crawl of a site that has changed, without faults.
// Other tests compare this result with those of second crawls with faults.
func TestRevisit(t *testing.T) {
	m := newMemories(t)
	before, _ := quiet(t, m, small)
	l := revisit(crawled(t, m, small)).quiet(t, m)
	after := l.want
	t.Logf("%+v", l.took)
	want := maps.Clone(before.States)
	maps.Copy(want, map[string]string{
		"http://one.example/tern":         "stored ",
		"http://one.example/gull/3":       "skipped redirect",
		"http://one.example/notes.txt":    "skipped robots",
		"http://two.example/reed/bittern": "failed http 404",
	})
	if diff := cmp.Diff(want, after.States); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	for query, want := range map[string]int{"gull": 3, `"grey heron"`: 2, "notes": 1} { // robots.txt forbids the last page now, which a link names
		if got := len(after.Hits[query]); got != want {
			t.Errorf("%d hits for %s, want %d", got, query, want)
		}
	}
}

// TestContradiction lets two runners (complete sets of functions) crawl a site. One page of the
// site contradicts itself: every second request for it is answered with a redirect, and the others
// with the page's old content. Either may count in the end, but books, frontiers and segments must
// agree on it.
func TestContradiction(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	l := lives(t, m)[2]
	moved := *changed
	moved.pages = maps.Clone(changed.pages)
	moved.pages["one.example/heron"] = page{to: "/gull"}
	for seed := range uint64(1 + 39/stride) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := l.plan
			p.seed, p.runners, p.atOnce = seed, 2, 4
			asked := int(seed)
			p.decide = func(w *world, c *call) fault {
				if c.what == "ask http://one.example/heron" {
					w.web.site = []*site{&moved, changed}[asked%2]
					asked++
				}
				return none
			}
			inWorld(t, m, p, func(w *world) {
				l.start(w)
				w.run()
				w.check(w.result())
			})
		})
	}
}
