package simulation

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/command/repair"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/restore"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// The methods below do what an operator does, with commands that have no faults.

// forget publishes a takedown, the list of what is to be erased. It names the URLs and sites in the
// fields forgottenURLs and forgottenSites of w.site.
func (w *world) forget() {
	w.t.Helper()
	var entries []takedown.Entry
	for _, url := range w.site.forgottenURLs {
		a, err := address.Parse(url)
		if err != nil {
			w.t.Fatal(err)
		}
		entries = append(entries, takedown.URL(a, w.clock.Now()))
	}
	for _, name := range w.site.forgottenSites {
		entries = append(entries, takedown.Site(name, w.clock.Now()))
	}
	if _, err := takedown.Forget(w.t.Context(), w.store, entries...); err != nil {
		w.t.Fatal(err)
	}
	w.reread()
}

// forgets reports whether the pages and sites of w.forget are forgotten.
func (w *world) forgets() bool {
	w.t.Helper()
	a, err := address.Parse(w.site.forgottenURLs[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return w.inForce.Takedowns.Forgets(a)
}

// forgetUnknown publishes the takedown of a page that does not exist. No page changes, but the frontiers must
// follow the new settings.
func (w *world) forgetUnknown() {
	w.t.Helper()
	unknown, err := address.Parse(fmt.Sprintf("http://unknown.example/%d", w.random.Uint64()))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := takedown.Forget(w.t.Context(), w.store, takedown.URL(unknown, w.clock.Now())); err != nil {
		w.t.Fatal(err)
	}
	w.reread()
}

// reindex makes all packages be indexed anew, and returns their number. It adds the work that this
// causes to w.ordered, so that it does not count as work that was done twice because of a fault.
func (w *world) reindex() int {
	w.t.Helper()
	f := sweep.Function{Bucket: w.store, Now: w.clock.Now, Limits: w.sweepLimits(), Log: functionstest.Log()}
	packages, err := f.Reindex(w.t.Context(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.ordered.segments += packages
	w.ordered.merges += packages
	return packages
}

// reindexFirst marks the first package of every partition as not indexed. So the function index
// makes a new segment of the package, and marks its documents in the older segment as dead.
func (w *world) reindexFirst() {
	w.t.Helper()
	for _, p := range w.inForce.Partitions() {
		functionstest.Commit(w.t, w.store, p, func(m *manifest.Manifest) { m.Packages[0].Indexed = false })
	}
}

// pause pauses the crawl for the given time: no URLs are leased to be fetched.
func (w *world) pause(d time.Duration) {
	w.t.Helper()
	_, err := control.Change(w.t.Context(), w.store, func(c *control.Document) bool {
		now := w.clock.Now()
		c.Pause = &control.Pause{Since: now, Until: now.Add(d), By: control.Operator, Reason: "The operator wants a rest."}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// resume ends a pause of the crawl.
func (w *world) resume() {
	w.t.Helper()
	_, err := control.Change(w.t.Context(), w.store, func(c *control.Document) bool {
		paused := c.Pause != nil
		c.Pause = nil
		return paused
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// reread makes the world use the settings that are published in its bucket now.
func (w *world) reread() {
	w.t.Helper()
	var err error
	if w.inForce, err = settings.Read(w.t.Context(), w.store, w.clock.Now()); err != nil {
		w.t.Fatal(err)
	}
}

// repair mends the damage in the bucket, as the command verify --repair does.
func (w *world) repair() repair.Report {
	w.t.Helper()
	report, err := (&repair.Repairer{Bucket: w.store, Now: w.clock.Now, Log: functionstest.Log()}).Run(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// rebuild rebuilds the frontiers in the Redis of each runner from the bucket.
func (w *world) rebuild() {
	w.t.Helper()
	for _, r := range w.runners {
		fronts := restore.Frontiers{Bucket: w.store, Redis: r.redis, Now: w.clock.Now, Worker: "operator", Log: functionstest.Log()}
		if _, err := fronts.Rebuild(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// hide publishes a takedown of a random page or of its site that show takes back. It returns the page's URL.
func (w *world) hide() string {
	w.t.Helper()
	at := slices.Sorted(maps.Keys(w.site.pages))
	a, err := address.Parse("http://" + at[w.random.IntN(len(at))])
	if err != nil {
		w.t.Fatal(err)
	}
	hidden := takedown.URL(a, w.clock.Now())
	if w.chance(3) {
		hidden = takedown.Site(a.Site, w.clock.Now())
	}
	if _, err := takedown.Suspend(w.t.Context(), w.store, w.clock.Now().Add(1000*time.Hour), hidden); err != nil {
		w.t.Fatal(err)
	}
	w.hidden, w.everHidden = append(w.hidden, hidden), true
	w.reread()
	return a.URL
}

// show takes the takedowns of hide back. It returns false if there are none.
func (w *world) show() bool {
	w.t.Helper()
	if len(w.hidden) == 0 {
		return false
	}
	if _, err := takedown.Undo(w.t.Context(), w.store, 0, w.hidden...); err != nil {
		w.t.Fatal(err)
	}
	w.hidden = nil
	w.reread()
	return true
}

// again begins another crawl of a random collection, in which URLs that have failed are requested again. It returns the
// name of the collection.
func (w *world) again() string {
	w.t.Helper()
	name := w.inForce.Collections[w.random.IntN(len(w.inForce.Collections))].Name
	_, err := collection.Change(w.t.Context(), w.store, name, func(c collection.Collection) (collection.Collection, error) {
		if now := w.clock.Now(); now.After(c.Again) {
			c.Again = now
		}
		return c, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.reread()
	return name
}
