package pack

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// knows reports whether the frontier in Redis has recorded the name of the partition's newest
// commit (Manifest.Learnt). A frontier that has not recorded it lacks outcomes, and must be
// rebuilt.
func (w *world) knows() bool {
	w.t.Helper()
	err := frontier.New(w.Redis, 0).Knows(w.t.Context(), map[layout.Partition]string{0: w.manifest().Learnt})
	if err != nil && !errors.Is(err, frontier.ErrNotBuilt) {
		w.t.Fatal(err)
	}
	return err == nil
}

func TestFrontierKnowsOfEveryCommit(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, nil)
		for token := uint64(1); token <= 3; token++ {
			w.spool(w.stored(token))
			w.settle(token)
			w.gather(true)
			m := w.manifest()
			if book := m.Books[len(m.Books)-1].Key; !strings.HasPrefix(m.Learnt, book) || !w.knows() {
				t.Errorf("learnt %q, want it to name %s, and the frontier to know it", m.Learnt, book)
			}
		}
		// Another process commits just before: the frontier learns the name once more, with the
		// new base.
		w.spool(w.stored(4))
		w.settle(4)
		w.beforeCommit(func() { w.consume(manifest.Consumed{Batch: version(9), At: w.clock.Now()}) })
		w.gather(true)
		if !w.knows() || len(w.manifest().Books) != 4 {
			t.Errorf("the frontier does not know the commit that was tried again: %+v", w.manifest().Books)
		}
		// Another commit changes Learnt, which the frontier does not know.
		functionstest.Commit(t, w.store, 0, func(m *manifest.Manifest) { m.Learnt = "another's" })
		w.spool(w.stored(5))
		w.settle(5)
		w.gather(true)
		if w.knows() {
			t.Error("the frontier counts as knowing all, and was not told of another's commit")
		}
	})
}

func TestPackWithoutAFrontier(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.settle(1)
	if err := frontier.New(w.Redis, 0).Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.gather(true)
	if m := w.manifest(); len(m.Books) != 1 || w.knows() {
		t.Errorf("books %+v, want one, and a frontier that has yet to be built", m.Books)
	}
}

// TestClosedBatch settles two batches. The manifest has closed one of them, so that its pages must
// not be stored any more: pack must pack only the other batch. The frontier already has the
// outcomes of the closed batch, though its pages are not stored. So the frontier must be marked to
// be rebuilt.
func TestClosedBatch(t *testing.T) {
	w := embedded(t)
	functionstest.Commit(t, w.store, 0, func(m *manifest.Manifest) { m.Close(version(2)) })
	w.spool(w.stored(2))
	w.spool(w.stored(3))
	w.settle(2, 3)
	w.gather(true)
	m := w.manifest()
	if len(m.Consumed) != 1 || m.Consumed[0].Batch != version(3) || m.Packages[0].Pages != 1 {
		t.Errorf("packages %+v, consumed %+v", m.Packages, m.Consumed)
	}
	if inbox := functionstest.Inbox(t, w.Redis, 0); inbox != nil {
		t.Errorf("in the inbox: %v", inbox)
	}
	if err := frontier.New(w.Redis, 0).Built(t.Context(), w.inForce.Fingerprint()); !errors.Is(err, frontier.ErrNotBuilt) {
		t.Errorf("the frontier counts as built: %v", err)
	}
}

// TestClosedMeanwhile closes a batch in the manifest just before pack commits that batch. A closed
// batch must not be packed, so nothing of it may be listed.
func TestClosedMeanwhile(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.settle(1)
	w.beforeCommit(func() { functionstest.Commit(t, w.store, 0, func(m *manifest.Manifest) { m.Close(version(1)) }) })
	w.gather(true)
	if m := w.manifest(); len(m.Packages)+len(m.Books)+len(m.Consumed) != 0 {
		t.Errorf("packages %+v, books %+v, consumed %+v", m.Packages, m.Books, m.Consumed)
	}
}

// TestEventsOfNewPackages checks that pack sends index an event for each new package after the
// commit. The bucket's own event for the package comes before the commit, when index finds nothing
// to do.
func TestEventsOfNewPackages(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.settle(1)
	w.sender.Take()
	w.gather(true)
	m := w.manifest()
	var told []string
	for _, sent := range w.sender.Take() {
		if sent.Queue != task.Index {
			continue
		}
		keys, err := message.S3Keys(sent.Body)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, keys...)
	}
	if diff := cmp.Diff([]string{m.Packages[0].Key}, told); diff != "" {
		t.Errorf("told to index (-want +got):\n%s", diff)
	}
}

// TestPackFailsAnywhere lets each call of the object store fail in turn. After another delivery of
// the message every batch must be packed once.
func TestPackFailsAnywhere(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, judge func(faultblob.Call) faultblob.Fault) {
		w := embedded(t)
		w.spool(w.stored(1))
		w.spool(w.stored(2))
		w.decide = judge
		for token := uint64(1); token <= 2; token++ {
			if err := w.Settle(t.Context(), spoolKey(token)); err != nil {
				w.settle(token)
			}
		}
		if err := w.Gather(t.Context(), task.Gather{Flush: true}); err != nil {
			w.gather(true)
		}
		w.gather(true)
		m := w.manifest()
		if len(m.Packages) != 1 || m.Packages[0].Pages != 2 || len(m.Books) != 1 || len(m.Consumed) != 2 || !w.knows() {
			t.Errorf("packages %+v, books %+v, consumed %+v, known: %v", m.Packages, m.Books, m.Consumed, w.knows())
		}
	})
}

// TestCondemnedMeanwhile condemns objects (marks them for deletion) that pack has stored but that
// no manifest lists yet. It does so just before pack commits, or after pack was killed and before
// it runs again. Pack must then store the same content under other keys, and list these.
func TestCondemnedMeanwhile(t *testing.T) {
	condemnPackages := func(w *world) {
		keys := functionstest.Keys(t, w.store, layout.Packages)
		functionstest.Commit(t, w.store, 0, func(m *manifest.Manifest) { m.Condemn(w.clock.Now(), keys...) })
	}
	condemnAll := func(w *world) {
		keys := slices.Concat(functionstest.Keys(t, w.store, layout.Packages), functionstest.Keys(t, w.store, layout.Books))
		functionstest.Commit(t, w.store, 0, func(m *manifest.Manifest) { m.Condemn(w.clock.Now(), keys...) })
	}
	for name, test := range map[string]struct {
		state book.State
		was   func(w *world)
	}{
		"before the commit":         {book.Stored, func(w *world) { w.beforeCommit(func() { condemnAll(w) }) }},
		"a package alone":           {book.Stored, func(w *world) { w.beforeCommit(func() { condemnPackages(w) }) }},
		"a book alone":              {book.Skipped, func(w *world) { w.beforeCommit(func() { condemnAll(w) }) }},
		"of a pack that was killed": {book.Stored, func(w *world) { w.kill(); condemnAll(w) }},
		"the book of one":           {book.Skipped, func(w *world) { w.kill(); condemnAll(w) }},
		"of two":                    {book.Skipped, func(w *world) { w.kill(); condemnAll(w); w.kill(); condemnAll(w) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := embedded(t)
			w.spool(w.ledger(1, functionstest.Outcome(t, version(1), site+"1", test.state)))
			w.settle(1)
			test.was(w)
			w.gather(true)
			m := w.manifest()
			if len(m.Condemned) == 0 || len(m.Books) != 1 || len(m.Consumed) != 1 || len(m.Packages) == 1 != (test.state == book.Stored) {
				t.Fatalf("packages %+v, books %+v, condemned %+v", m.Packages, m.Books, m.Condemned)
			}
			for _, c := range m.Condemned {
				if m.Package(c.Key) != nil || slices.ContainsFunc(m.Books, func(b manifest.Book) bool { return b.Key == c.Key }) {
					t.Errorf("%s is listed and condemned", c.Key)
				}
			}
			if o := w.book().Outcomes; len(o) != 1 || o[0].URL != site+"1" || o[0].Package != "" && o[0].Package != m.Packages[0].Key {
				t.Errorf("the book says %+v, packages %+v", o, m.Packages)
			}
		})
	}
}

// TestSuspended lets an hour pass before the commit, as if the process had been suspended. By then
// the objects that the process has stored may have been deleted, so it must begin again.
func TestSuspended(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.settle(1)
	put := ""
	var suspend sync.Once // the base of a commit is read by several requests at once
	w.decide = func(c faultblob.Call) faultblob.Fault {
		switch {
		case c.Op == faultblob.Create && put == "":
			put = c.Key
		case c.Op == faultblob.Get && strings.HasPrefix(c.Key, layout.Manifests) && put != "": // the function reads the base of its commit
			suspend.Do(func() {
				w.clock.Advance(manifest.Fresh)
				if err := w.store.Delete(t.Context(), put); err != nil {
					t.Error(err)
				}
			})
		}
		return faultblob.None
	}
	w.gather(true)
	m := w.manifest()
	if len(m.Packages) != 1 || len(m.Consumed) != 1 {
		t.Fatalf("packages %+v, consumed %+v", m.Packages, m.Consumed)
	}
	for key := range m.Objects() {
		if _, err := w.store.Head(t.Context(), key); err != nil {
			t.Errorf("%s is listed: %v", key, err)
		}
	}
}

// TestFormerNameOfAPackage has a package that got a new key when some of its pages were erased.
// Books may still refer to the package by its former key. Then pack makes another package, whose
// key would be just this former one. Pack must choose a different key for it.
func TestFormerNameOfAPackage(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.settle(1)
	w.kill()
	orphan := functionstest.Keys(t, w.store, layout.Packages)[0]
	if err := w.store.Delete(t.Context(), orphan); err != nil {
		t.Fatal(err)
	}
	functionstest.Commit(t, w.store, 0, func(m *manifest.Manifest) {
		m.Add(manifest.Package{Key: layout.PackagePrefix(0) + "another", Formerly: []string{orphan}})
	})
	w.gather(true)
	if m := w.manifest(); len(m.Packages) != 2 || m.Packages[1].Key == orphan {
		t.Errorf("packages %+v", m.Packages)
	}
}

// kill runs Gather and lets it fail just before its commit, as if the process had been killed.
func (w *world) kill() {
	w.t.Helper()
	w.decide = func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Manifests) {
			return faultblob.Before
		}
		return faultblob.None
	}
	if err := w.Gather(w.t.Context(), task.Gather{Flush: true}); err == nil {
		w.t.Fatal("was not killed")
	}
	w.decide = nil
}
