package simulation

import (
	"time"

	"github.com/bucketsearch/bucketsearch/functions/command/repair"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/restore"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// The methods below do what an operator does, with commands that have no faults.

// forget publishes a takedown of the site's forgottenURLs and forgottenSites.
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

// reindex makes all packages be indexed anew, and returns their number. This work does not
// count as done twice.
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

// reindexFirst makes the first package of every partition be indexed anew, so that its
// documents in other segments are masked.
func (w *world) reindexFirst() {
	w.t.Helper()
	for _, p := range w.inForce.Partitions() {
		functionstest.Commit(w.t, w.store, p, func(m *manifest.Manifest) { m.Packages[0].Indexed = false })
	}
}

// pause stops the leasing of URLs for the time d.
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

// resume ends a pause.
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

// reread reads the settings again.
func (w *world) reread() {
	w.t.Helper()
	var err error
	if w.inForce, err = settings.Read(w.t.Context(), w.store, w.clock.Now()); err != nil {
		w.t.Fatal(err)
	}
}

// repair repairs the bucket.
func (w *world) repair() repair.Report {
	w.t.Helper()
	report, err := (&repair.Repairer{Bucket: w.store, Now: w.clock.Now, Log: functionstest.Log()}).Run(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// rebuild rebuilds the frontiers of all runners from the bucket.
func (w *world) rebuild() {
	w.t.Helper()
	for _, r := range w.runners {
		fronts := restore.Frontiers{Bucket: w.store, Redis: r.redis, Now: w.clock.Now, Worker: "operator", Log: functionstest.Log()}
		if _, err := fronts.Rebuild(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}
