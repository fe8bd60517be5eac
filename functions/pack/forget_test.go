package pack

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

const forgotten = "http://forgotten.example/"

// forget publishes takedowns of a URL and a site. The cached settings do not have them yet.
func (w *world) forget() {
	w.t.Helper()
	a, err := address.Parse(site + "gone")
	if err != nil {
		w.t.Fatal(err)
	}
	now := w.clock.Now()
	if _, err := takedown.Forget(w.t.Context(), w.store, takedown.URL(a, now), takedown.Site("forgotten.example", now)); err != nil {
		w.t.Fatal(err)
	}
}

// unforgetful puts two batches into the spool: one with forgotten and other URLs, and one with
// forgotten URLs only.
func (w *world) unforgetful() {
	w.t.Helper()
	var outcomes []book.Outcome
	for _, url := range []string{forgotten + "page", site + "gone", site + "kept"} {
		outcomes = append(outcomes, functionstest.Outcome(w.t, version(1), url, book.Stored))
	}
	redirect := functionstest.Outcome(w.t, version(1), site+"redirect", book.Skipped)
	redirect.Detail = "to " + forgotten
	l := w.ledger(1, append(outcomes, redirect)...)
	for _, from := range []string{forgotten + "page", site + "gone", site + "kept"} {
		for _, to := range []string{forgotten + "new", site + "gone", site + "new"} {
			l.Links = append(l.Links, functionstest.Link(w.t, from, to, 2))
		}
	}
	w.spool(l)
	w.spool(w.ledger(2, functionstest.Outcome(w.t, version(2), site+"gone", book.Stored)))
}

func (w *world) checkForgotten() {
	w.t.Helper()
	m := w.manifest()
	if len(m.Consumed) != 2 || len(m.Packages) != 1 || m.Packages[0].Pages != 1 {
		w.t.Fatalf("packages %+v, consumed %+v", m.Packages, m.Consumed)
	}
	learnt := w.book()
	var addresses []string
	for _, o := range learnt.Outcomes {
		addresses = append(addresses, o.URL+" "+o.Detail)
		if o.State != book.Stored {
			continue
		}
		page, err := webobject.Read(w.t.Context(), w.store, o.Package, webobject.Place{Offset: o.Offset, Length: o.Length})
		if err != nil || page.URL != o.URL {
			w.t.Errorf("where %s is said to stand is %s, %v", o.URL, page.URL, err)
		}
	}
	for _, l := range learnt.Links {
		addresses = append(addresses, "link "+l.Target+" "+l.Decision)
	}
	slices.Sort(addresses)
	if diff := cmp.Diff([]string{site + "kept ", site + "redirect ", "link " + site + "new "}, addresses); diff != "" {
		w.t.Errorf("in the book (-want +got):\n%s", diff)
	}
	content, err := w.store.Get(w.t.Context(), m.Packages[0].Key, blob.Range{})
	if err != nil || strings.Contains(string(content), "forgotten") || strings.Contains(string(content), "gone") {
		w.t.Errorf("the package names what is forgotten, %v", err)
	}
}

func TestForgottenIsNotPacked(t *testing.T) {
	w := embedded(t)
	w.forget()
	w.unforgetful()
	inForce, err := w.Settings.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.inForce = inForce
	functionstest.Open(t, w.Redis, inForce, 2)
	w.settle(1, 2)
	if got := functionstest.Counts(t, w.Redis, 0); got.Stored != 1 || got.Skipped != 1 || got.Waiting != 2 {
		t.Errorf("%+v; want what is kept, the redirect, the new link and the other host", got)
	}
	w.gather(true)
	w.checkForgotten()
}

// TestForgottenByThePartition has a takedown that the cached settings of pack do not contain yet. The
// manifest says that the takedown was applied to the partition. It says so before pack begins in the
// first case, and only just before pack commits in the second case. In neither case may a forgotten
// page be packed.
func TestForgottenByThePartition(t *testing.T) {
	for _, late := range []bool{false, true} {
		w := embedded(t)
		w.unforgetful()
		w.settle(1, 2) // makes the function read the settings
		w.forget()
		erase := func() { functionstest.Commit(t, w.store, 0, func(m *manifest.Manifest) { m.Forgotten = 1 }) }
		if late {
			w.beforeCommit(erase)
		} else {
			erase()
		}
		w.gather(true)
		w.checkForgotten()
	}
}

// TestTakedownsLost packs for a partition that has applied takedowns of which no version is left. Gather must fail, and
// not try again and again.
func TestTakedownsLost(t *testing.T) {
	w := embedded(t)
	w.unforgetful()
	w.settle(1, 2)
	functionstest.Commit(t, w.store, 0, func(m *manifest.Manifest) { m.Forgotten = 1 })
	if err := w.Gather(t.Context(), task.Gather{Flush: true}); err == nil || !strings.Contains(err.Error(), "version 1 of the takedowns") {
		t.Errorf("%v, want an error that names the version", err)
	}
}

func TestNothingButTheForgotten(t *testing.T) {
	w := embedded(t)
	w.spool(w.ledger(1, functionstest.Outcome(t, version(1), site+"gone", book.Stored)))
	w.settle(1)
	w.forget()
	functionstest.Commit(t, w.store, 0, func(m *manifest.Manifest) { m.Forgotten = 1 })
	w.gather(true)
	if m := w.manifest(); len(m.Packages)+len(m.Books) != 0 || len(m.Consumed) != 1 || m.Learnt != "" {
		t.Errorf("packages %+v, books %+v, consumed %+v", m.Packages, m.Books, m.Consumed)
	}
}
