package simulation

import (
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

const (
	sweepOften = 20 * time.Second // time between sweeps while something changes
	sweepRare  = 10 * time.Minute // time between sweeps when nothing changes
	longest    = 24 * time.Hour   // simulated time after which a run counts as hung
	cleared    = 25 * time.Hour   // simulated time after which an object that nothing needs may be deleted
)

// run runs the simulation until everything is crawled, packed and indexed, and then until all
// objects that nothing needs are deleted.
func (w *world) run() {
	w.t.Helper()
	for range 2 {
		if !w.settle(longest) {
			w.t.Fatalf("not done within %v: %s", longest, w.undone())
		}
		w.clock.Advance(cleared)
	}
	if !w.settle(longest) {
		w.t.Fatalf("not done within %v: %s", longest, w.undone())
	}
}

// settle runs the simulation until no function has anything left to do, with at least one sweep
// of every runner. It returns false if this takes longer than the given time.
func (w *world) settle(longest time.Duration) bool {
	w.t.Helper()
	pause, swept, changes := sweepOften, time.Time{}, w.changes
	for end := w.clock.Now().Add(longest); w.clock.Now().Before(end); {
		if w.step() {
			continue
		}
		due, found := w.due()
		switch next := swept.Add(pause); {
		case !found && !swept.IsZero() && w.undone() == "":
			return true
		case !found || next.Before(due):
			w.clock.Advance(max(0, next.Sub(w.clock.Now())))
			if pause = min(2*pause, sweepRare); changes != w.changes || swept.IsZero() {
				pause = sweepOften
			}
			swept, changes = w.clock.Now(), w.changes
			for _, r := range w.runners {
				r.queue.send(task.Sweep, "{}", 0)
				r.queue.send(task.Rank, "{}", 0)
			}
		default:
			w.clock.Advance(max(0, due.Sub(w.clock.Now())))
		}
	}
	return false
}

// undone returns a text about something that is left to request, pack, index, merge or rank; "" if
// there is nothing.
func (w *world) undone() string {
	w.t.Helper()
	for _, r := range w.runners {
		if left := w.unasked(r); left != "" {
			return left
		}
	}
	for _, p := range w.inForce.Partitions() {
		m, err := manifest.Read(w.t.Context(), w.store, p)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, listed := range m.Packages {
			if !listed.Indexed {
				return listed.Key + " is not indexed"
			}
		}
		if w.tiers.Mergeable(&m, false) != nil {
			return fmt.Sprintf("the segments of partition %s are to be merged", p)
		}
		if m.Ranked == "" { // the first run of rank may come before the partition begins
			return fmt.Sprintf("partition %s is not ranked", p)
		}
	}
	return ""
}

// unasked returns a text if a runner still has URLs to request or batches to pack; otherwise "".
func (w *world) unasked(r *runner) string {
	w.t.Helper()
	for _, crawl := range w.inForce.Crawl.Partitions() {
		front := frontier.New(r.redis, crawl)
		counts, err := front.Counts(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if err := front.Built(w.t.Context(), w.inForce.Fingerprint()); err != nil || counts.Waiting+counts.Leased > 0 {
			return fmt.Sprintf("frontier %d has %+v, %v", crawl, counts, err)
		}
	}
	for _, p := range w.inForce.Partitions() {
		inbox, err := frontier.NewInbox(r.redis, p).List(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if len(inbox) > 0 {
			return fmt.Sprintf("batches of partition %s are to be packed: %v", p, inbox)
		}
	}
	return ""
}
