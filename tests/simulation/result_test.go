package simulation

import (
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// scoreError is the maximum difference of scores, which are sums in another order.
const scoreError = 1e-9

// result is the final state of a world, which must not depend on the faults.
type result struct {
	States map[string]string // URL → state
	Bodies map[string]string // URL → body of the stored page
	Hits   map[string][]hit  // query → its results
}

type hit struct {
	URL     string
	Score   float64
	Snippet []search.Fragment
}

// check compares the world's result with that of a world without faults, and runs verify on it.
func (w *world) check(want result) {
	w.t.Helper()
	w.compare(want, w.result())
	for _, problem := range w.withoutForeign(w.problems()) {
		w.t.Errorf("verify: %s", problem)
	}
	if left := w.ownKeys(layout.Spool); len(left) > 0 {
		w.t.Errorf("left in the spool: %v", left)
	}
	for _, p := range w.inForce.Partitions() {
		m, err := manifest.Read(w.t.Context(), w.store, p)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(m.Gone) > 0 {
			w.t.Errorf("partition %s: still listed as gone: %v", p, m.Gone)
		}
	}
}

// compare fails the test if the results differ.
func (w *world) compare(want, got result) {
	w.t.Helper()
	if diff := want.differences(got); diff != "" {
		w.t.Errorf("another result than in a quiet run (-want +got):\n%s", diff)
	}
}

// differences describes the first of states, bodies and search results that differ; the later ones
// differ as a consequence.
func (r result) differences(got result) string {
	if diff := cmp.Diff(r.States, got.States); diff != "" {
		return diff
	}
	if diff := cmp.Diff(r.Bodies, got.Bodies); diff != "" {
		return diff
	}
	return cmp.Diff(r.Hits, got.Hits, cmpopts.EquateApprox(0, scoreError))
}

// problems returns the problems that verify finds with the frontiers of each runner.
func (w *world) problems() (found []verify.Problem) {
	w.t.Helper()
	for _, r := range w.runners {
		report, err := (&verify.Verifier{Bucket: w.store, Now: w.clock.Now(), Frontiers: w.frontiers(r)}).Run(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		found = append(found, report.Problems...)
	}
	return found
}

// frontiers returns the frontiers of a runner.
func (w *world) frontiers(r *runner) (all []*frontier.Frontier) {
	for _, crawl := range w.inForce.Crawl.Partitions() {
		all = append(all, frontier.New(r.redis, crawl))
	}
	return all
}

// result returns the present result of the world, without forgotten pages.
func (w *world) result() result {
	w.t.Helper()
	books, err := account.Read(w.t.Context(), w.store, w.inForce)
	if err != nil {
		w.t.Fatal(err)
	}
	r := result{States: map[string]string{}, Bodies: map[string]string{}, Hits: map[string][]hit{}}
	for u, err := range books.All() {
		if err != nil {
			w.t.Fatal(err)
		}
		if w.inForce.Takedowns.Forgets(u.Address) {
			continue
		}
		r.States[u.Address.URL] = string(u.State) + " " + u.Reason
		if u.State != account.Stored {
			continue
		}
		place := webobject.Place{Offset: u.Page.Offset, Length: u.Page.Length}
		stored, err := webobject.Read(w.t.Context(), w.store, newest(books.Manifests, u.Page.Package), place)
		if err != nil {
			w.t.Fatal(err)
		}
		r.Bodies[stored.URL] = string(stored.Data)
	}
	w.search(r.Hits)
	return r
}

// newest returns the key of a package now: the sweep may have written it anew under another
// key.
func newest(manifests []manifest.Manifest, key string) string {
	for _, m := range manifests {
		if p := m.Package(key); p != nil {
			return p.Key
		}
	}
	return key
}

// search runs the queries of the site and stores the results in hits.
func (w *world) search(hits map[string][]hit) {
	w.t.Helper()
	engine := w.engine(w.store, w.clock.Now)
	for _, text := range w.site.queries {
		found, err := engine.Search(w.t.Context(), question{Text: text}.query(w))
		if err != nil {
			w.t.Fatal(err)
		}
		hits[text] = hitsOf(found)
	}
}
