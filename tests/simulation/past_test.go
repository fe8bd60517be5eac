package simulation

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// past is a record of all generations of a partition's manifest. It holds the time of each
// generation and, for each object, the number of the last generation that lists the object. By this
// record, a test decides whether an object may be deleted.
type past struct {
	times  []time.Time       // times of the generations, from the first
	last   map[string]uint64 // number of the last generation that lists an object, by its key
	newest manifest.Manifest
	hint   []byte
	since  time.Time // time at which the loss of generations was noticed; zero if none were lost
	before *past     // record of the generations before the loss; nil if none were lost
	broken bool      // true: since the loss, none of the generations that are left can be read
}

// pastOf returns the record of all generations of a partition's manifest. It shows whether an object
// may be deleted. If there is no record yet, pastOf makes an empty one.
func (w *world) pastOf(id layout.Partition) *past {
	if w.past[id] == nil {
		w.past[id] = &past{last: map[string]uint64{}}
	}
	return w.past[id]
}

// follow adds to the record the generations that were committed since follow was last called. It
// skips those that a test has damaged.
//
// After a loss of generations, it may be that none can be read. For example, a sweep has committed
// that generation 36 is the oldest to keep. Then generation 34 and all later ones are lost. The sweep
// does not know that, and deletes those before 36, beginning with the first. When it has deleted 30,
// the newest generation left is 33, a delta that follows from checkpoint 30. The sweep may do so: 33
// was not kept any more. Repair then makes a new generation.
func (p *past) follow(w *world, id layout.Partition) {
	hint, err := w.store.Get(w.t.Context(), layout.HintKey(id), blob.Range{})
	if err == nil && bytes.Equal(hint, p.hint) {
		if _, err := w.store.Head(w.t.Context(), layout.ManifestKey(id, p.newest.Generation+1)); err != nil {
			return // nothing was committed since
		}
	}
	last, err := manifest.Read(w.t.Context(), w.store, id)
	if p.broken = p.before != nil && errors.Is(err, manifest.ErrDamaged); p.broken {
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	p.hint, p.newest = hint, last
	for _, l := range p.newest.CondemnedLists {
		records, _ := partition.ReadCondemnedList(w.t.Context(), w.store, l) // a test may have damaged it
		for _, c := range records {
			c.Erase = c.Erase || l.Erase
			p.newest.Condemned = append(p.newest.Condemned, c)
		}
	}
	if p.newest.Generation < uint64(len(p.times)) { // after a loss, a running sweep has deleted further generations
		before := *p
		*p = past{last: map[string]uint64{}, newest: before.newest, since: w.clock.Now(), before: &before}
	}
	for n := uint64(len(p.times)) + 1; n <= p.newest.Generation; n++ {
		m, _ := manifest.At(w.t.Context(), w.store, id, n)
		p.times = append(p.times, m.Time)
		for key := range m.Objects() {
			p.last[key] = n
		}
	}
}

// oldest returns the number of the generation that was in force at the given time. If all generations
// must be kept that were in force at this time or later, it is the oldest of them.
func (p *past) oldest(instant time.Time) uint64 {
	n := slices.IndexFunc(p.times, func(at time.Time) bool { return at.After(instant) })
	if n < 0 {
		n = len(p.times)
	}
	return uint64(max(n, 1)) // the generation before that one
}

// judge is called before the object with the key is deleted. It fails the test if the object is
// still needed, or foreign.
func (w *world) judge(key string) {
	w.t.Helper()
	if _, err := w.store.Head(w.t.Context(), key); err != nil {
		return // the object is deleted already
	}
	if w.foreign[key] {
		w.t.Errorf("%s is deleted, and is foreign", key)
	}
	for _, id := range w.inForce.Partitions() {
		p := w.pastOf(id)
		p.follow(w, id)
		if why := p.needs(key, id, w.clock.Now()); why != "" {
			w.t.Errorf("%s is deleted, and %s", key, why)
		}
	}
	w.deleted[key[:strings.Index(key, "/")+1]]++
}

// needs returns why the object with the key must not be deleted now; "" if it may be deleted. For
// some time after a loss of generations, an object may also be deleted if it was not needed before
// the loss. A sweep that began before the loss may delete such an object afterwards. As long as no
// generation can be read, nothing may be deleted that was needed at the loss.
func (p *past) needs(key string, id layout.Partition, now time.Time) string {
	if p.before != nil && now.Sub(p.since) < partition.Fresh && p.before.needs(key, id, now) == "" {
		return ""
	}
	if p.broken {
		return p.before.needs(key, id, p.since)
	}
	oldest := p.oldest(now.Add(-keptPast))
	switch last := p.last[key]; {
	case last > 0 && last == p.newest.Generation:
		return "is listed"
	case last > 0 && last >= oldest && !p.erased(key):
		return "an earlier generation lists it"
	case strings.HasPrefix(key, layout.ManifestPrefix(id)):
		if _, n, err := layout.ParseManifestKey(key); err != nil || n >= oldest {
			return "was in force a short while ago"
		}
	case strings.HasPrefix(key, layout.SpoolPrefix(id)):
		if _, batch, err := layout.ParseSpoolKey(key); err != nil || !p.newest.HasConsumed(batch) && !p.newest.IsClosed(batch) {
			return "is not packed"
		}
	}
	return ""
}

// erased reports whether an object is condemned because it contains pages that must be forgotten.
// Such an object may be deleted even if an older generation that is still kept lists it.
func (p *past) erased(key string) bool {
	return p.newest.Forgotten > 0 && slices.ContainsFunc(p.newest.Condemned, func(c manifest.Condemned) bool { return c.Key == key && c.Erase })
}
