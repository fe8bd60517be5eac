package pack

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

func TestPackagePerExpiryClass(t *testing.T) {
	w := embedded(t)
	for token, exponents := range [][]int16{1: {0, 5, -3}, 2: {5, 0}} {
		var outcomes []book.Outcome
		for i, exponent := range exponents {
			o := functionstest.Outcome(t, version(uint64(token)), fmt.Sprintf("%s%d/%d", site, token, i), book.Stored)
			o.Exponent, o.Time = exponent, functionstest.Start.Add(time.Duration(token)*time.Second)
			outcomes = append(outcomes, o)
		}
		if outcomes != nil {
			w.spool(w.ledger(uint64(token), outcomes...))
			w.settle(uint64(token))
		}
	}
	w.gather(true)
	got := make(map[string]int)
	for _, p := range w.manifest().Packages {
		got[p.Key] = p.Pages
	}
	want := map[string]int{
		"packages/0000/2_0_20261121220002000.spf":  2,
		"packages/0000/2_5_20261121220002000.spf":  2,
		"packages/0000/2_-3_20261121220001000.spf": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages of packages (-want +got):\n%s", diff)
	}
	for _, o := range w.book().Outcomes {
		page, err := webobject.Read(t.Context(), w.store, o.Package, webobject.Place{Offset: o.Offset, Length: o.Length})
		if err != nil || page.URL != o.URL || page.Version != o.Version {
			t.Errorf("where %s is said to stand is %s, %v", o.URL, page.URL, err)
		}
		if !strings.Contains(o.Package, fmt.Sprintf("/2_%d_", o.Exponent)) {
			t.Errorf("%s of class %d is in %s", o.URL, o.Exponent, o.Package)
		}
	}
}

func TestDecisions(t *testing.T) {
	w := embedded(t)
	l := w.stored(1)
	image := functionstest.Link(t, site+"1", site+"image", 2)
	image.Kind = book.Asset
	redirects := functionstest.Link(t, site+"1", site+"loop", 2)
	redirects.Hops = collection.MaxHops + 1
	l.Links = []book.Link{
		functionstest.Link(t, site+"1", site+"in", 2), functionstest.Link(t, site+"1", "http://out.example/", 2), image, redirects,
	}
	w.spool(l)
	w.settle(1)
	w.gather(true)
	got := make(map[string]string)
	for _, link := range w.book().Links {
		got[link.Target] = link.Decision
	}
	want := map[string]string{
		site + "in": "", site + "image": "asset", site + "loop": collection.TooMany, "http://out.example/": collection.OutOfScope,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// TestPackAgain runs pack twice. In the first run, the commit fails; or it succeeds, but pack gets
// an error as the answer. After the second run there must be one package and one book, and one
// generation that lists them.
func TestPackAgain(t *testing.T) {
	for _, fault := range []faultblob.Fault{faultblob.Before, faultblob.After} {
		w := embedded(t)
		w.spool(w.stored(1))
		w.settle(1)
		failures := 0
		var mu sync.Mutex // protects failures: a commit sends several requests at once
		w.decide = func(c faultblob.Call) faultblob.Fault {
			mu.Lock()
			defer mu.Unlock()
			if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Manifests) || failures > 0 && failures < 3 {
				failures++
				return fault // until the pack gives up
			}
			return faultblob.None
		}
		if err := w.Gather(t.Context(), task.Gather{Flush: true}); err == nil {
			t.Fatal("Gather succeeded without a commit")
		}
		w.decide = nil
		w.gather(true)
		m := w.manifest()
		if len(m.Packages) != 1 || len(m.Books) != 1 || m.Generation != 2 {
			t.Errorf("%v: packages %+v, books %+v", fault, m.Packages, m.Books)
		}
		for prefix, want := range map[string]int{layout.Packages: 1, layout.Books: 1, layout.Manifests: 2} {
			if keys := functionstest.Keys(t, w.store, prefix); len(keys) != want {
				t.Errorf("%v: %v, want %d", fault, keys, want)
			}
		}
	}
}

func TestPackageNameIsTaken(t *testing.T) {
	w := embedded(t)
	taken := layout.PackageKey(0, layout.PackageName{Base: 2, Created: functionstest.Start})
	functionstest.Put(t, w.store, taken, []byte("another package"))
	w.spool(w.stored(1))
	w.settle(1)
	w.gather(true)
	want := layout.PackageKey(0, layout.PackageName{Base: 2, Created: functionstest.Start, Collision: 1})
	if m := w.manifest(); len(m.Packages) != 1 || m.Packages[0].Key != want {
		t.Errorf("packages %+v, want %s", m.Packages, want)
	}
	if content, err := w.store.Get(t.Context(), taken, blob.Range{}); err != nil || string(content) != "another package" {
		t.Errorf("the other package is %q, %v", content, err)
	}
}

// TestConsumedByAnother packs two batches. Just before pack commits, another process commits the
// first of them as packed. Pack must then pack only the second.
func TestConsumedByAnother(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.spool(w.stored(2))
	w.settle(1, 2)
	w.decide = func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Books) {
			w.decide = nil
			w.consume(manifest.Consumed{Batch: version(1), At: w.clock.Now()})
		}
		return faultblob.None
	}
	w.gather(true)
	m := w.manifest()
	if len(m.Packages) != 1 || m.Packages[0].Pages != 1 || len(m.Consumed) != 2 || functionstest.Inbox(t, w.Redis, 0) != nil {
		t.Errorf("packages %+v, consumed %+v", m.Packages, m.Consumed)
	}
	if outcomes := w.book().Outcomes; len(outcomes) != 1 || outcomes[0].Version != version(2) {
		t.Errorf("the book has %+v, want the rest", outcomes)
	}
}

// consume lists the batch in c as consumed (packed) in the manifest, as another process would.
func (w *world) consume(c manifest.Consumed) {
	w.t.Helper()
	_, err := manifest.Commit(w.t.Context(), w.store, 0, w.clock.Now, func(m *manifest.Manifest) error {
		m.Consumed = append(m.Consumed, c)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestSpoolIsGone packs while the inbox lists a batch that was never packed, and whose spool object
// is missing. The batch must be removed from the inbox.
func TestSpoolIsGone(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.spool(w.stored(2))
	w.settle(1, 2)
	if err := w.store.Delete(t.Context(), spoolKey(1)); err != nil {
		t.Fatal(err)
	}
	w.gather(true)
	m := w.manifest()
	if len(m.Packages) != 1 || m.Packages[0].Pages != 1 || len(m.Consumed) != 1 || functionstest.Inbox(t, w.Redis, 0) != nil {
		t.Errorf("packages %+v, consumed %+v", m.Packages, m.Consumed)
	}
}

// TestDamagedSpool settles a damaged spool object (fetched batch). It must go to quarantine, and
// its URLs must stay leased, so that they are requested again when their lease ends.
func TestDamagedSpool(t *testing.T) {
	w := embedded(t)
	lease, _ := w.lease()
	l := w.ledger(1, functionstest.Outcome(t, lease.Version, lease.Entries[0].URL, book.Stored))
	l.Batch = lease.Version
	w.spool(l)
	w.damage(lease.Version.Token, -100)
	for range 2 {
		if err := w.Settle(t.Context(), layout.SpoolKey(0, lease.Version)); err != nil {
			t.Fatal(err)
		}
	}
	m := w.manifest()
	if len(m.Consumed) != 1 || m.Consumed[0].Damaged == "" || len(m.Books) != 0 {
		t.Errorf("consumed %+v, books %+v", m.Consumed, m.Books)
	}
	if got := functionstest.Keys(t, w.store, layout.Quarantine); len(got) != 1 {
		t.Errorf("in quarantine: %v", got)
	}
	if got := functionstest.Counts(t, w.Redis, 0); got.Leased != 1 || got.Stored != 0 {
		t.Errorf("%+v, want the URL still leased", got)
	}
	front := frontier.New(w.Redis, 0)
	if n, err := front.Expire(t.Context(), lease.Deadline.Add(time.Millisecond)); n != 1 || err != nil {
		t.Errorf("%d URLs wait again, %v; want 1", n, err)
	}
}

// TestSpoolDamagedAfterItWasSettled damages a spool object whose outcomes are in the frontier
// already. Its batch cannot be packed, so these outcomes will be in no book, and the frontier must
// be rebuilt.
func TestSpoolDamagedAfterItWasSettled(t *testing.T) {
	w := embedded(t)
	for token := uint64(1); token <= 3; token++ {
		w.spool(w.stored(token))
		w.settle(token)
	}
	w.damage(2, 20) // a byte in a page
	w.gather(true)
	m := w.manifest()
	if len(m.Packages) != 1 || m.Packages[0].Pages != 2 || len(m.Consumed) != 3 || functionstest.Inbox(t, w.Redis, 0) != nil {
		t.Errorf("packages %+v, consumed %+v", m.Packages, m.Consumed)
	}
	if err := frontier.New(w.Redis, 0).Built(t.Context(), w.inForce.Fingerprint()); !errors.Is(err, frontier.ErrNotBuilt) {
		t.Errorf("the frontier counts as built: %v", err)
	}
}
