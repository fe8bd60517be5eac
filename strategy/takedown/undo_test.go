package takedown

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

func undo(t *testing.T, bucket blob.Bucket, erased uint64, entries ...Entry) []Undone {
	t.Helper()
	results, err := Undo(t.Context(), bucket, erased, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// TestUndo suspends, seals and takes back entries, in several orders. Pending entries must be hidden but
// not final. It also checks when an entry becomes final, and what Undo returns.
func TestUndo(t *testing.T) {
	bucket := memblob.New()
	one, site, other := URL(parse(t, "http://a.example/1"), noon), Site("b.example", noon), URL(parse(t, "http://c.example/"), noon)
	until := noon.Add(time.Hour)
	state := func(step string, version uint64, final, hidden []bool, masks bool) {
		t.Helper()
		s := load(t, bucket)
		var gotFinal, gotHidden []bool
		for _, e := range []Entry{one, site, other} {
			gotFinal, gotHidden = append(gotFinal, s.has(e)), append(gotHidden, s.Hidden().has(e))
		}
		if diff := cmp.Diff(final, gotFinal); diff != "" || s.Version != version {
			t.Errorf("%s: version %d, want %d; final (-want +got):\n%s", step, s.Version, version, diff)
		}
		if diff := cmp.Diff(hidden, gotHidden); diff != "" {
			t.Errorf("%s: hidden (-want +got):\n%s", step, diff)
		}
		if got := s.Hidden().MayBeIn(s.Version); got != masks {
			t.Errorf("%s: pages may be in a partition that has erased all final ones: %v, want %v", step, got, masks)
		}
	}
	const yes, no = true, false
	suspend := func(until time.Time, entries ...Entry) {
		t.Helper()
		if _, err := Suspend(t.Context(), bucket, until, entries...); err != nil {
			t.Fatal(err)
		}
	}
	suspend(until, one, site)
	state("suspended", 0, []bool{no, no, no}, []bool{yes, yes, no}, true)
	if s := load(t, bucket); s.IsDue(until.Add(-1)) || !s.IsDue(until) {
		t.Error("it is not due at its time")
	}
	forget(t, bucket, other)
	state("and another forgotten at once", 2, []bool{no, no, yes}, []bool{yes, yes, yes}, true)
	if diff := cmp.Diff([]Undone{Restored, TooLate}, undo(t, bucket, 1, one, other)); diff != "" {
		t.Error(diff)
	}
	state("one taken back", 2, []bool{no, no, yes}, []bool{no, yes, yes}, true)
	suspend(until.Add(time.Hour), one)
	if err := Seal(t.Context(), bucket, until); err != nil {
		t.Fatal(err)
	}
	state("the site sealed", 5, []bool{no, yes, yes}, []bool{yes, yes, yes}, true)
	if diff := cmp.Diff([]Undone{TooLate}, undo(t, bucket, 4, site)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Undone{Lifted, Restored, Unknown}, undo(t, bucket, 5, site, one, Site("d.example", noon))); diff != "" {
		t.Error(diff)
	}
	state("nothing pending", 6, []bool{no, no, yes}, []bool{no, no, yes}, false)
	if err := Seal(t.Context(), bucket, until.Add(time.Hour)); err != nil || load(t, bucket).Version != 6 {
		t.Errorf("sealing nothing: %v, version %d", err, load(t, bucket).Version)
	}
}

// TestVersionNeverDecreases publishes takedowns in random order, and takes them back. Set.Version must never be lower than
// before: a partition may have erased the pages of the version before, and takes no work that knows only earlier ones.
func TestVersionNeverDecreases(t *testing.T) {
	for seed := range uint64(50) {
		random, bucket := rand.New(rand.NewPCG(seed, 0)), memblob.New()
		var highest uint64
		for step := range 12 {
			e := URL(parse(t, fmt.Sprint("http://a.example/", random.IntN(3))), noon)
			at := noon.Add(time.Duration(step) * time.Hour)
			what := []string{"suspend", "suspend", "undo", "undo", "seal", "forget"}[random.IntN(6)]
			var err error
			switch what {
			case "suspend":
				_, err = Suspend(t.Context(), bucket, at.Add(2*time.Hour), e)
			case "undo":
				undo(t, bucket, highest, e)
			case "seal":
				err = Seal(t.Context(), bucket, at)
			case "forget":
				forget(t, bucket, e)
			}
			if err != nil {
				t.Fatal(err)
			}
			now := load(t, bucket).Version
			if now < highest {
				t.Fatalf("seed %d: version %d after %d (%s)", seed, now, highest, what)
			}
			highest = now
		}
	}
}

// TestUndoRacesSeal takes an entry back and seals it at the same time. Only one of the two may succeed,
// and the result of Undo must say which one did.
func TestUndoRacesSeal(t *testing.T) {
	for range 50 {
		bucket := memblob.New()
		one := URL(parse(t, "http://a.example/1"), noon)
		if _, err := Suspend(t.Context(), bucket, noon, one); err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Go(func() {
			if err := Seal(t.Context(), bucket, noon); err != nil {
				t.Error(err)
			}
		})
		results := undo(t, bucket, 0, one)
		both.Wait()
		if s := load(t, bucket); s.has(one) != (results[0] == TooLate) || s.Hidden().has(one) != s.has(one) {
			t.Fatalf("%v, but it is final: %v", results, s.has(one))
		}
	}
}

// TestAdded publishes takedowns by Forget and Suspend, seals one and takes one back. Added must return what
// each call has published, and nothing for the versions of Seal and Undo.
func TestAdded(t *testing.T) {
	bucket := memblob.New()
	a, b, c := URL(parse(t, "http://a.example/"), noon), URL(parse(t, "http://b.example/"), noon), Site("c.example", noon)
	forget(t, bucket, a)
	suspend := func(until time.Time, entries ...Entry) {
		t.Helper()
		if _, err := Suspend(t.Context(), bucket, until, entries...); err != nil {
			t.Fatal(err)
		}
	}
	suspend(noon.Add(time.Hour), a, b, c)
	suspend(noon.Add(2*time.Hour), URL(parse(t, "http://d.example/"), noon))
	if err := Seal(t.Context(), bucket, noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := Undo(t.Context(), bucket, 0, URL(parse(t, "http://d.example/"), noon)); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[uint64][]Entry{1: {a}, 2: {b, c}, 3: {URL(parse(t, "http://d.example/"), noon)}, 4: nil, 5: nil} {
		got, err := Added(t.Context(), bucket, version)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("version %d: %v (-want +got):\n%s", version, err, diff)
		}
	}
	if _, err := Added(t.Context(), bucket, 6); !errors.Is(err, blob.ErrAbsent) {
		t.Errorf("no version: %v", err)
	}
}
