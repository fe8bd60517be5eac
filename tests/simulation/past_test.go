package simulation

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// past is what all generations of a partition have said. By it every deletion
// is judged.
type past struct {
	times  []time.Time       // of the generations, from the first
	last   map[string]uint64 // by key of an object: the last generation that lists it
	newest manifest.Manifest
	hint   []byte
	since  time.Time // when generations were lost
	before *past     // until then; nil if none were
}

// pastOf returns that of a partition.
func (w *world) pastOf(id layout.Partition) *past {
	if w.past[id] == nil {
		w.past[id] = &past{last: map[string]uint64{}}
	}
	return w.past[id]
}

// follow reads the generations that were committed since. One that is damaged
// on purpose cannot be requested anything.
func (p *past) follow(w *world, id layout.Partition) {
	hint, err := w.store.Get(w.t.Context(), layout.HintKey(id), blob.Range{})
	if err == nil && bytes.Equal(hint, p.hint) {
		if _, err := w.store.Head(w.t.Context(), layout.ManifestKey(id, p.newest.Generation+1)); err != nil {
			return // nothing was committed
		}
	}
	p.hint = hint
	if p.newest, err = manifest.Read(w.t.Context(), w.store, id); err != nil {
		w.t.Fatal(err)
	}
	if p.newest.Generation < uint64(len(p.times)) { // the sweep that was at work when some were lost deleted the rest
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

// oldest returns the first generation that was in force after a moment.
func (p *past) oldest(instant time.Time) uint64 {
	n := slices.IndexFunc(p.times, func(at time.Time) bool { return at.After(instant) })
	if n < 0 {
		n = len(p.times)
	}
	return uint64(max(n, 1)) // the one before
}

// judge checks that an object that is about to be deleted is none of what can
// be requested.
func (w *world) judge(key string) {
	w.t.Helper()
	if _, err := w.store.Head(w.t.Context(), key); err != nil {
		return // it is deleted already
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

// needs says why an object may not be deleted now, "" where it may. What was
// decided before generations were lost is done for some time after.
func (p *past) needs(key string, id layout.Partition, now time.Time) string {
	if p.before != nil && now.Sub(p.since) < partition.Fresh && p.before.needs(key, id, now) == "" {
		return ""
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

// erased reports whether an object goes whoever lists it, because something is
// forgotten.
func (p *past) erased(key string) bool {
	return p.newest.Forgotten > 0 && slices.ContainsFunc(p.newest.Condemned, func(c manifest.Condemned) bool { return c.Key == key && c.Erase })
}
