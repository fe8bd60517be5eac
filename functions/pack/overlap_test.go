package pack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

const near = "near" // name of a second collection

// newPair returns a world with a second collection, whose name is "near". This collection admits
// any URL up to three links from its seed.
func newPair(t *testing.T, rdb redis.UniversalClient, edit func(*collection.Collection)) *world {
	t.Helper()
	w := newWorld(t, rdb, nil)
	w.inForce = functionstest.Republish(t, w.store, collection.Collection{
		Name: near, HostConnections: 1, Agent: "testbot/1.0", Seeds: []collection.Seed{{URL: site + "near", Scope: collection.Any, Depth: 3}},
	}, edit)
	if err := frontier.New(rdb, 0).Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	functionstest.Open(t, rdb, w.inForce, 2)
	functionstest.Admit(t, rdb, w.inForce, "http://other."+host+"/")
	return w
}

// storedFor returns the outcome of a page that was stored for the given collections.
func (w *world) storedFor(token uint64, page string, collections ...string) book.Outcome {
	w.t.Helper()
	o := functionstest.Outcome(w.t, version(token), site+page, book.Stored)
	o.Collections, o.Depth, o.Exponent, o.Digest, o.ETag = collections, 7, 2, token, `"tag"`
	return o
}

// link returns a link on a page of the site, on behalf of the collection with the given name.
func (w *world) link(from, to, name string, depth uint16) book.Link {
	w.t.Helper()
	l := functionstest.Link(w.t, site+from, to, depth)
	l.Collection = name
	return l
}

// TestLinkOfSharedPage settles and packs pages that belong to two collections. The first collection
// of a page does not admit the target of a link, but the second does. The link must get into the
// book, and its target into the frontier, on behalf of the second collection.
func TestLinkOfSharedPage(t *testing.T) {
	w := newPair(t, redistest.Server(t), nil)
	const elsewhere, both = "http://elsewhere.example/", site + "both"
	seed := w.storedFor(4, "near", functionstest.Collection, near)
	seed.Depth = 0
	l := w.ledger(4, seed, w.storedFor(4, "alone", functionstest.Collection))
	l.Links = []book.Link{
		w.link("near", elsewhere, functionstest.Collection, 2), w.link("near", "http://far.example/", functionstest.Collection, 4),
		w.link("alone", "http://alone.example/", functionstest.Collection, 2), w.link("near", both, functionstest.Collection, 2),
	}
	w.spool(l)
	w.settle(4)
	request := frontier.Request{Now: w.clock.Now(), Deadline: w.clock.Now(), Max: 100, MaxBytes: 1 << 20, Connections: 1}
	waiting := make(map[string]string)
	for {
		lease, leased, err := frontier.New(w.Redis, 0).Lease(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if !leased {
			break
		}
		for _, e := range lease.Entries {
			waiting[e.URL] = e.Collection
		}
	}
	want := map[string]string{elsewhere: near, both: near, "http://other." + host + "/": functionstest.Collection}
	if diff := cmp.Diff(want, waiting); diff != "" {
		t.Errorf("waiting, for whom (-want +got):\n%s", diff)
	}
	w.gather(true)
	type row struct{ Target, Collection, Decision string }
	var rows []row
	for _, l := range w.book().Links {
		rows = append(rows, row{l.Target, l.Collection, l.Decision})
	}
	wantRows := map[row]bool{
		{elsewhere, near, ""}: true, {"http://far.example/", functionstest.Collection, collection.OutOfScope}: true,
		{"http://alone.example/", functionstest.Collection, collection.OutOfScope}: true,
		{both, near, ""}: true, // the other collection claims the page
	}
	got := make(map[row]bool)
	for _, r := range rows {
		got[r] = true
	}
	if diff := cmp.Diff(wantRows, got); diff != "" || len(rows) != len(got) {
		t.Errorf("%d links in the book (-want +got):\n%s", len(rows), diff)
	}
}

// TestLacking settles links of one collection to pages that are stored for another collection only.
// The pages must be requested again, for the collection of the links. The frontier's entry for such
// a page must have the result of the page's last request, no matter whether this result is in a
// book or still in the spool.
func TestLacking(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newPair(t, rdb, nil)
		known := []book.Outcome{
			w.storedFor(1, "packed", functionstest.Collection), w.storedFor(1, "had", functionstest.Collection, near),
			functionstest.Outcome(t, version(1), site+"failed", book.Failed), w.storedFor(1, "twice", functionstest.Collection),
		}
		functionstest.Learn(t, w.store, 0, book.Book{Outcomes: known})
		var states []frontier.Known
		for _, o := range known {
			page, err := address.Parse(o.URL)
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, frontier.Known{
				ID: page.ID, Place: page.Place, Version: o.Version, State: o.State, Tallies: w.inForce.Tallies(o, page),
			})
		}
		if err := frontier.New(rdb, 0).Mark(t.Context(), states); err != nil {
			t.Fatal(err)
		}
		w.spool(w.ledger(2, w.storedFor(2, "spooled", functionstest.Collection), w.storedFor(2, "twice", functionstest.Collection)))
		w.settle(2)
		l := w.ledger(3)
		for _, page := range []string{"packed", "spooled", "twice", "had", "failed", "new"} {
			l.Links = append(l.Links, w.link("near", site+page, near, 2))
		}
		w.spool(l)
		w.settle(3, 3)
		got := w.entries()
		want := map[string]bool{site + "packed": true, site + "spooled": true, site + "twice": true, site + "new": true}
		if diff := cmp.Diff(want, urls(got)); diff != "" {
			t.Errorf("to be asked (-want +got):\n%s", diff)
		}
		for page, digest := range map[string]uint64{"packed": 1, "spooled": 2, "twice": 2} {
			e := got[site+page]
			want := frontier.Entry{
				URL: site + page, ID: layout.IdentityOf(site + page), Host: host, Depth: 2, Exponent: 2, Collection: near,
				Last: &batch.Look{Time: functionstest.Start, ETag: `"tag"`, Digest: digest, Collections: []string{functionstest.Collection}},
			}
			if diff := cmp.Diff(want, e); diff != "" {
				t.Errorf("%s (-want +got):\n%s", page, diff)
			}
		}
	})
}

// TestLackingWithinALimit settles a link to a page that is stored, but not yet for the link's
// collection. This collection limits its number of pages. Pack does not count a collection's pages,
// so the page must not be requested now. Instead, the frontier must record that a collection may
// lack pages (Counts.Missed): its next rebuild counts the pages, and adds this one if the limit
// allows.
func TestLackingWithinALimit(t *testing.T) {
	w := newPair(t, redistest.Server(t), func(c *collection.Collection) { c.Pages = 3 })
	w.spool(w.ledger(2, w.storedFor(2, "near", near), w.storedFor(2, "a", functionstest.Collection)))
	w.settle(2)
	l := w.ledger(3)
	l.Links = append(l.Links, w.link("near", site+"a", near, 1))
	w.spool(l)
	w.settle(3)
	if got := w.entries(); len(got) > 0 {
		t.Errorf("to be asked: %v", urls(got))
	}
	if counts, err := frontier.New(w.Redis, 0).Counts(t.Context()); err != nil || !counts.Missed {
		t.Errorf("%+v, %v: want it to be missed", counts, err)
	}
}

// TestLackingForTwo has a page that is stored for one collection, and settles links to it on behalf
// of a second and a third collection. The page must wait for a request on behalf of the second. A
// page can wait for only one collection. So for the third, the frontier must record that a
// collection may lack pages (Counts.Missed). The next rebuild of the frontier looks for such pages.
func TestLackingForTwo(t *testing.T) {
	w := newPair(t, redistest.Server(t), nil)
	w.inForce = functionstest.Republish(t, w.store, collection.Collection{
		Name: "third", HostConnections: 1, Agent: "testbot/1.0", Seeds: []collection.Seed{{URL: site + "third", Scope: collection.Any, Depth: 3}},
	}, nil)
	if err := frontier.New(w.Redis, 0).Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	functionstest.Open(t, w.Redis, w.inForce, 3)
	w.spool(w.ledger(2, w.storedFor(2, "a", functionstest.Collection)))
	w.settle(2)
	l := w.ledger(3)
	l.Links = append(l.Links, w.link("near", site+"a", near, 1), w.link("third", site+"a", "third", 1))
	w.spool(l)
	w.settle(3)
	if got := w.entries(); len(got) != 1 || got[site+"a"].Collection != near {
		t.Errorf("to be asked: %v", got)
	}
	if counts, err := frontier.New(w.Redis, 0).Counts(t.Context()); err != nil || !counts.Missed {
		t.Errorf("%+v, %v: want it to be missed", counts, err)
	}
}
