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

// scoreError is the maximum difference of two scores that count as equal. A score is a sum of
// parts. Another run may add the parts in another order, and so round the sum differently.
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

// check fails the test if the result of the world is not the one of a run without faults, if
// verify finds a problem, or if something is left to pack.
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

// differences describes how two results differ; "" if they are equal. It compares first the states
// of URLs, then the bodies of pages, then the search results, and describes only the first of these
// that differ. The later ones usually differ as a consequence: a page that is not stored cannot be
// found.
func (r result) differences(got result) string {
	if diff := cmp.Diff(r.States, got.States); diff != "" {
		return diff
	}
	if diff := cmp.Diff(r.Bodies, got.Bodies); diff != "" {
		return diff
	}
	return cmp.Diff(r.Hits, got.Hits, cmpopts.EquateApprox(0, scoreError))
}

// problems returns the problems that verify finds when it compares the bucket with the
// frontiers in the Redis of each runner.
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

// frontiers returns the frontiers in the Redis of a runner, one for each crawl partition.
func (w *world) frontiers(r *runner) (all []*frontier.Frontier) {
	for _, crawl := range w.inForce.Crawl.Partitions() {
		all = append(all, frontier.New(r.redis, crawl))
	}
	return all
}

// result returns the present result of the world: the states of URLs, the stored pages, and the
// results of the site's queries. It leaves out URLs that a takedown has erased.
func (w *world) result() result {
	w.t.Helper()
	books, err := account.Read(w.t.Context(), w.store, w.inForce)
	if err != nil {
		w.t.Fatal(err)
	}
	r := result{States: map[string]string{}, Bodies: map[string]string{}, Hits: map[string][]hit{}}
	for u, err := range books.All(w.t.Context(), layout.Range{}) {
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

// newest returns the present key of a package. The given key may be an earlier one: to erase
// forgotten pages, the sweep writes a package anew, under a new key.
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
	reader := w.engine(w.store, w.clock.Now)
	for _, text := range w.site.queries {
		found, err := reader.Search(w.t.Context(), question{Text: text}.query(w))
		if err != nil {
			w.t.Fatal(err)
		}
		hits[text] = hitsOf(found)
	}
}
