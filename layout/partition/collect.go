package partition

import (
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// condemn has objects deleted that this generation no longer lists.
func (e *Edit) condemn(keys ...string) { e.next.Condemn(e.now(), keys...) }

// CondemnUnlisted condemns those of some objects that are neither listed nor
// condemned, and returns them: somebody put them who was killed before the
// commit, or was refused. Whoever is still about to list one finds it
// condemned, and puts it under another name. They go after the grace, whatever
// generation is kept, since none lists them.
func (e *Edit) CondemnUnlisted(keys ...string) (condemned []string) {
	condemned = e.Unlisted(keys...)
	e.condemn(condemned...)
	for i := range condemned {
		e.next.Condemned[len(e.next.Condemned)-1-i].Erase = true
	}
	return condemned
}

// Unlisted returns those of some objects that are neither listed nor condemned.
func (e *Edit) Unlisted(keys ...string) (unlisted []string) {
	known := make(map[string]bool, len(keys))
	for key := range e.next.Objects() {
		known[key] = true
	}
	for _, c := range e.next.Condemned {
		known[c.Key] = true
	}
	for _, key := range keys {
		if !known[key] {
			unlisted = append(unlisted, key)
		}
	}
	return unlisted
}

// Collected says of condemned objects that they are deleted, or lets go of
// them when nobody can be about to delete or to list them any more.
func (e *Edit) Collected(deleted, over func(manifest.Condemned) bool) (changed bool) {
	gone := e.now().UTC().Truncate(time.Millisecond)
	for i := range e.next.Condemned {
		if c := &e.next.Condemned[i]; c.Gone.IsZero() && deleted(*c) {
			c.Gone, changed = gone, true
		}
	}
	before := len(e.next.Condemned)
	e.next.Condemned = slices.DeleteFunc(e.next.Condemned, over)
	return changed || len(e.next.Condemned) < before
}

// KeepFrom says which generation is the oldest that is kept. It reports whether
// that is later than before.
func (e *Edit) KeepFrom(oldest uint64) (changed bool) {
	if e.next.Oldest >= oldest {
		return false
	}
	e.next.Oldest = oldest
	return true
}

// Forgot says that nothing is left here of what a version of the takedowns
// forgets, but for what is condemned: that goes after its grace, whatever
// generation is kept.
func (e *Edit) Forgot(version uint64) (changed bool) {
	if e.next.Forgotten >= version {
		return false
	}
	e.next.Forgotten = version
	e.next.Erase()
	return true
}
