package pack

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// looked returns the ledger (the results) of a batch of seven URLs. The name of a URL says what its
// request led to, such as failed or unchanged. Most outcomes have a digest: it means that a page is
// stored for the URL from an earlier request. Only "never-stored" and "sitemap" have none.
func (w *world) looked(token uint64) spool.Ledger {
	w.t.Helper()
	l := w.ledger(token)
	for name, o := range map[string]struct {
		state  book.State
		digest uint64
	}{
		"failed": {book.Failed, 1}, "skipped": {book.Skipped, 1}, "never-stored": {book.Failed, 0}, "sitemap": {book.Skipped, 0},
		"unchanged": {book.Unchanged, 1}, "asked-again": {book.Retry, 1}, "not-asked": {book.NotAsked, 1},
	} {
		outcome := functionstest.Outcome(w.t, version(token), site+name, o.state)
		outcome.Digest = o.digest
		l.Outcomes = append(l.Outcomes, outcome)
	}
	return l
}

func goneSince(token uint64, names ...string) []manifest.Gone {
	var m manifest.Manifest
	for _, name := range names {
		m.AddGone(manifest.Gone{ID: layout.IdentityOf(site + name), Version: version(token)})
	}
	return m.Gone
}

// masks returns how often the sweep was sent a task to mask gone pages (mark their documents as
// dead).
func (w *world) masks() (n int) {
	for _, m := range w.sender.Take() {
		if cmp.Equal(m, functionstest.Message{Queue: task.Sweep, Body: `{"gone":0}`}) {
			n++
		}
	}
	return n
}

// TestGoneIsListed packs a batch that found stored pages gone. The commit must add them to the
// manifest's list of gone pages, and the sweep must then get one task to mark their documents as
// dead.
func TestGoneIsListed(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.settle(1)
	w.gather(true)
	if m := w.manifest(); m.Gone != nil || w.masks() != 0 {
		t.Errorf("gone %+v", m.Gone)
	}
	w.spool(w.looked(2))
	w.settle(2, 2)
	w.gather(true)
	w.gather(true)
	want := goneSince(2, "failed", "skipped")
	if m := w.manifest(); cmp.Diff(want, m.Gone) != "" || w.masks() != 1 || len(m.Books) != 2 {
		t.Errorf("gone %+v, want %+v, and the sweep to be told once", m.Gone, want)
	}
}

// TestGoneFailsAnywhere lets each call of the object store fail in turn. After another run the
// manifest must list the gone pages.
func TestGoneFailsAnywhere(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, judge func(faultblob.Call) faultblob.Fault) {
		w := embedded(t)
		w.spool(w.looked(2))
		w.settle(2)
		w.decide = judge
		_ = w.Gather(t.Context(), task.Gather{Flush: true})
		w.decide = nil
		w.gather(true)
		if diff := cmp.Diff(goneSince(2, "failed", "skipped"), w.manifest().Gone); diff != "" {
			t.Errorf("gone (-want +got):\n%s", diff)
		}
	})
}

// TestForgottenIsNotGone checks that the manifest's list of gone pages gets no forgotten page.
func TestForgottenIsNotGone(t *testing.T) {
	w := embedded(t)
	a, err := address.Parse(site + "failed")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takedown.Forget(t.Context(), w.store, takedown.URL(a, w.clock.Now())); err != nil {
		t.Fatal(err)
	}
	w.spool(w.looked(2))
	if err := w.packAll(t.Context(), 0, []frontier.Waiting{{Batch: version(2)}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(goneSince(2, "skipped"), w.manifest().Gone); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
}
