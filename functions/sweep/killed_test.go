package sweep

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// end is the final state of a world, by which tests compare two runs.
type end struct {
	Stock     stock
	Books     []manifest.Book
	Packages  []manifest.Package
	Condemned []manifest.Condemned
	Consumed  int
	Forgotten uint64
	Pending   [][]string
	Letters   []string
}

func (w *world) end() end {
	w.t.Helper()
	m := w.manifest(0)
	e := end{w.stock(0), m.Books, m.Packages, m.Condemned, len(m.Consumed), m.Forgotten, nil, functionstest.Keys(w.t, w.bucket, layout.DeadLetters)}
	var err error
	if w.inForce, err = settings.Read(w.t.Context(), w.bucket, w.clock.Now()); err != nil {
		w.t.Fatal(err)
	}
	for crawl := range 2 {
		e.Pending = append(e.Pending, w.frontier(crawl).Pending)
	}
	w.checkKeys(0)
	return e
}

// life runs sweeps on a new world, until they have completed a takedown and deleted all that must
// be deleted. The first write for which the function decide returns a fault kills its sweep; then
// the sweep is run again. life returns the final state of the world.
func life(t *testing.T, decide func(faultblob.Call) faultblob.Fault) end {
	w := newForgetful(t)
	w.Limits.Compact.Books = 2
	w.bury(letter(gone))
	var mu sync.Mutex // protects the following two
	calls, dead := int64(0), false
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		mu.Lock()
		defer mu.Unlock()
		if dead {
			return faultblob.Before
		}
		if c.Op == faultblob.Get || c.Op == faultblob.Head || c.Op == faultblob.List {
			return faultblob.None // being killed at a read is the same as being killed after the last write
		}
		calls++
		fault := decide(faultblob.Call{Number: calls, Op: c.Op, Key: c.Key})
		dead = fault != faultblob.None
		return fault
	})
	for range 3 {
		if err := w.sweepAll(); err != nil && !errors.Is(err, blob.ErrRetryable) {
			t.Fatal(err)
		}
		dead = false
		w.merge(0)
		w.clock.Advance(w.Limits.Collect.Grace / 2)
	}
	w.Bucket = w.bucket
	for range 3 {
		w.clock.Advance(w.Limits.Collect.Grace)
		w.run()
		w.merge(0)
	}
	for range 2 {
		w.clock.Advance(w.Limits.Collect.Past + 2*w.Limits.Collect.Grace)
		w.run()
	}
	w.checkPast(0)
	return w.end()
}

// TestKilledAnywhere kills the sweep at each write in turn. The next sweeps must lead to the same
// final state as without the kill.
func TestKilledAnywhere(t *testing.T) {
	want := life(t, func(faultblob.Call) faultblob.Fault { return faultblob.None })
	if diff := cmp.Diff(remains, want.Stock); diff != "" || want.Forgotten != 1 || want.Condemned != nil || want.Letters != nil || len(want.Books) >= 4 {
		t.Fatalf("%+v: left (-want +got):\n%s", want, diff)
	}
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		if diff := cmp.Diff(want, life(t, decide)); diff != "" {
			t.Errorf("end (-want +got):\n%s", diff)
		}
	})
}

// TestAStepFails lets one step of the sweep fail, and checks that the other steps are done, and that
// the step is tried again.
func TestAStepFails(t *testing.T) {
	for _, failing := range []string{
		layout.Epochs, layout.SpoolPrefix(1), layout.PackagePrefix(0), layout.Books + "0000/", layout.QuarantinePrefix(layout.Books),
		layout.DeadLetters, layout.Feedback,
	} {
		w := newForgetful(t)
		functionstest.Put(t, w.bucket, layout.FeedbackKey(w.clock.Now().AddDate(-1, 0, 0), "w"), nil)
		w.wish(message.DeadLetter{Queue: task.Fetch, Body: "again"})
		w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
			if strings.HasPrefix(c.Key, failing) {
				return faultblob.Before
			}
			return faultblob.None
		})
		if err := w.sweepAll(); !errors.Is(err, blob.ErrRetryable) {
			t.Errorf("%s: Run: %v", failing, err)
		}
		sent := w.sender.Take()
		rebuilds := failing != layout.Epochs && failing != layout.SpoolPrefix(1) && failing != layout.Books+"0000/"
		if epochs := functionstest.Keys(t, w.bucket, layout.Epochs); len(epochs) == 1 != rebuilds {
			t.Errorf("%s fails: epochs %v", failing, epochs)
		}
		for what, done := range map[string]bool{
			layout.SpoolPrefix(0): len(functionstest.Keys(t, w.bucket, layout.SpoolPrefix(0))) == 1,
			layout.DeadLetters:    slices.ContainsFunc(sent, func(m functionstest.Message) bool { return m.Body == "again" }),
			layout.Feedback:       functionstest.Keys(t, w.bucket, layout.Feedback) == nil,
			"schedule":            slices.ContainsFunc(sent, func(m functionstest.Message) bool { return m.Queue == task.Schedule }),
		} {
			if done == (what == failing || what == "schedule" && !rebuilds) {
				t.Errorf("%s fails: %s is done: %v", failing, what, done)
			}
		}
		w.Bucket = w.bucket
		for range 3 {
			w.run()
			w.merge(0)
		}
		if diff := cmp.Diff(remains, w.stock(0)); diff != "" || w.manifest(0).Forgotten != 1 {
			t.Errorf("%s: left afterwards (-want +got):\n%s", failing, diff)
		}
	}
}
