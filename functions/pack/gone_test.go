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

// looked returns a ledger with one outcome in each state, for pages that are named by the state.
// Pages whose outcome has a digest were stored before.
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

// masks returns how often a task to mask gone pages was sent to the sweep.
func (w *world) masks() (n int) {
	for _, m := range w.sender.Take() {
		if cmp.Equal(m, functionstest.Message{Queue: task.Sweep, Body: `{"gone":0}`}) {
			n++
		}
	}
	return n
}

// TestGoneIsListed lists gone pages in the commit of the book, and sends the sweep a task.
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

// TestGoneFailsAnywhere lets each storage call fail in turn: another delivery of the message mends
// it.
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

// TestForgottenIsNotGone lists no forgotten page as gone.
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
