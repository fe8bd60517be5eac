package sweep

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// newUnspooled returns a world in which no spool object waits to be packed: its URLs would be counted each time.
func newUnspooled(t *testing.T) *world {
	w := newQuiet(t)
	for _, key := range functionstest.Keys(t, w.bucket, layout.Spool) {
		if err := w.bucket.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// TestCensus: the sweep counts the URLs, and takes the names of merged books into account, so that they need not be
// counted again. It counts them again for a new takedown at once, and otherwise once in censusAge.
func TestCensus(t *testing.T) {
	w := newUnspooled(t)
	w.pack(0, 20, one+"a")
	w.pack(0, 21, one+"b")
	again := func() (urls int) {
		t.Helper()
		last, err := census.Read(t.Context(), w.bucket)
		if err != nil {
			t.Fatal(err)
		}
		s, err := settings.Read(t.Context(), w.bucket, w.clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		books, err := account.Survey(t.Context(), w.bucket, s)
		if err == nil {
			_, err = last.Update(t.Context(), w.bucket, books, s, w.clock.Now(), census.Extent{Each: func(account.URL) { urls++ }})
		}
		if err != nil {
			t.Fatal(err)
		}
		return urls
	}
	expect := func(what string, want bool) {
		t.Helper()
		if urls := again(); (urls > 0) != want {
			t.Errorf("%s: %d URLs must be counted again", what, urls)
		}
	}
	expect("before the first sweep", true)
	w.run()
	expect("after the first sweep", false)
	w.Limits.Compact.Books = 2
	before := w.manifest(0).Books
	w.run()
	if after := w.manifest(0).Books; len(before) < 2 || len(after) >= len(before) {
		t.Fatalf("books %v, and after the sweep %v", before, after)
	}
	expect("after a merge of books", false)
	w.pack(0, 22, one+"c")
	w.run()
	expect("after a new book", true)
	w.clock.Advance(censusAge)
	w.run()
	expect("later", false)
	w.forget(nil, one+"a")
	expect("after a takedown", true)
	if err := w.sweep(t.Context()); err != nil { // the partitions have sweeps of their own
		t.Fatal(err)
	}
	expect("before the page is erased", false)
	w.run()
	w.clock.Advance(censusAge)
	w.run()
	expect("after that", false)
}

// TestCensusGoesOn has a census of which the last step has still to be taken. A message to count takes it, unless
// another process is taking a step, and does nothing else.
func TestCensusGoesOn(t *testing.T) {
	w := newUnspooled(t)
	w.pack(0, 20, one+"a")
	w.run()
	all, err := census.Read(t.Context(), w.bucket)
	if err != nil || len(all.Parts) == 0 {
		t.Fatalf("parts %v, %v", all.Parts, err)
	}
	last := all.Parts[len(all.Parts)-1]
	if err := census.Rename(t.Context(), w.bucket, census.Merged{
		Books: all.Books[:1], Into: all.Books[0], Changed: map[uint32]bool{last.From.Site(): true},
	}); err != nil {
		t.Fatal(err)
	}
	uncounted := func() float64 {
		t.Helper()
		c, err := census.Read(t.Context(), w.bucket)
		if err != nil {
			t.Fatal(err)
		}
		return c.Uncounted()
	}
	before := uncounted()
	leases := lease.New(w.Redis, "another")
	held, _, err := leases.Acquire(t.Context(), "count", w.Now(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	count := task.Clean{Count: true}
	if err := w.Run(t.Context(), count); err != nil || uncounted() != before || before == 0 {
		t.Errorf("while another process counts: %v, and %v of the space is uncounted instead of %v", err, uncounted(), before)
	}
	if err := leases.Release(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context(), count); err != nil || uncounted() >= before {
		t.Errorf("the next step: %v, and %v of the space is uncounted instead of less than %v", err, uncounted(), before)
	}
	if sent := w.sender.Take(); len(sent) > 0 {
		t.Errorf("sent %v", sent)
	}
}

// TestSlowCensus lets a sweep run out of time while it counts the URLs. All else must be done by then.
func TestSlowCensus(t *testing.T) {
	w := newQuiet(t)
	w.run()
	w.sender.Take()
	w.clock.Advance(censusAge)
	ctx, timeOut := context.WithCancel(t.Context())
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Key != layout.Census {
			return faultblob.None
		}
		timeOut()
		return faultblob.Hang
	})
	if err := w.sweep(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the sweep: %v", err)
	}
	if sent := w.sender.Take(); !slices.ContainsFunc(sent, func(m functionstest.Message) bool { return m.Queue == task.Schedule }) {
		t.Errorf("the sweep sent nothing to schedule: %v", sent)
	}
}
