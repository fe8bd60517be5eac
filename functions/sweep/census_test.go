package sweep

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// TestCensus: the sweep counts the URLs, and takes the names of merged books into account, so that they need not be
// counted again. It counts them again for a new takedown at once, and otherwise once in censusAge.
func TestCensus(t *testing.T) {
	w := newQuiet(t)
	for _, key := range functionstest.Keys(t, w.bucket, layout.Spool) { // what waits to be packed is always counted again
		if err := w.bucket.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
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
			_, err = last.Update(t.Context(), w.bucket, books, s, w.clock.Now(), func(account.URL) { urls++ })
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
