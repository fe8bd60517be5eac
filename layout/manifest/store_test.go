package manifest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// pack returns an edit that records the batch in Consumed and lists a package with its pages.
func pack(batch uint64) func(*manifest.Manifest) error {
	return func(m *manifest.Manifest) error {
		v := layout.Version{Epoch: 1, Token: batch}
		if m.HasConsumed(v) {
			return manifest.ErrUnchanged
		}
		m.Consumed = append(m.Consumed, manifest.Consumed{Batch: v, At: noon})
		m.Add(manifest.Package{Key: fmt.Sprintf("package of %d", batch), Pages: 1})
		return nil
	}
}

func TestFiftyCommittersLoseNothingAndDoNothingTwice(t *testing.T) {
	ctx := context.Background()
	bucket := memblob.New()
	const committers, batches = 50, 20
	var all sync.WaitGroup
	for i := range committers {
		all.Go(func() {
			// Several goroutines commit each batch.
			if _, err := manifest.Commit(ctx, bucket, 0, clock, pack(uint64(i%batches))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	m, err := manifest.Read(ctx, bucket, 0)
	if err != nil {
		t.Fatal(err)
	}
	if m.Generation != batches || len(m.Packages) != batches || len(m.Consumed) != batches {
		t.Errorf("generation %d lists %d packages and %d batches, want %d of each", m.Generation, len(m.Packages), len(m.Consumed), batches)
	}
	for i, p := range m.Packages {
		if p.ID != uint32(i) {
			t.Errorf("package %d has identifier %d", i, p.ID)
		}
	}
	for g := m.Generation; g > 1; g-- {
		older, err := manifest.At(ctx, bucket, 0, g-1)
		if err != nil {
			t.Fatal(err)
		}
		if m.Parent != older.Hash() {
			t.Errorf("generation %d does not follow from generation %d", g, g-1)
		}
		m = older
	}
}

func TestEmptyPartition(t *testing.T) {
	m, err := manifest.Read(context.Background(), memblob.New(), 3)
	if err != nil || m.Generation != 0 || m.Partition != 3 {
		t.Errorf("read %+v, %v", m, err)
	}
}

func TestBegunPartitionIsReadWithoutAListing(t *testing.T) {
	ctx := context.Background()
	bucket := countblob.New(memblob.New())
	if m, err := manifest.Commit(ctx, bucket, 3, clock, func(*manifest.Manifest) error { return nil }); err != nil || m.Generation != 1 || m.Partition != 3 {
		t.Fatalf("began %+v, %v", m, err)
	}
	before := bucket.Counts()
	if m, err := manifest.Read(ctx, bucket, 3); err != nil || m.Generation != 1 {
		t.Errorf("read %+v, %v", m, err)
	}
	if after := bucket.Counts(); after.List != before.List || after.Get != before.Get+2 || after.Head != before.Head+1 {
		t.Errorf("reading took %d listings, %d GETs and %d HEADs, want 0, 2 and 1", after.List-before.List, after.Get-before.Get, after.Head-before.Head)
	}
}

// TestHintOfWhatIsGone checks that Read finds the newest generation by a hint, which is a copy of
// some generation. In most cases this generation is an old one, and it or those after it may be
// deleted. In one case the hint is a copy of the newest generation, of which nothing else is left.
func TestHintOfWhatIsGone(t *testing.T) {
	for name, test := range map[string]struct {
		hint  uint64
		gone  []uint64
		want  uint64
		lists int
	}{
		"it is the newest":      {9, nil, 9, 0},
		"it is a little old":    {7, []uint64{1, 2, 3}, 9, 0},
		"it is collected":       {3, []uint64{1, 2, 3, 4, 5}, 9, 1},
		"those behind it are":   {3, []uint64{1, 2, 3, 4}, 9, 1},
		"it is alone left":      {9, []uint64{9}, 9, 1},
		"it is the oldest kept": {3, []uint64{1, 2}, 9, 0},
	} {
		bucket := memblob.New()
		var hint []byte
		for n := range uint64(9) {
			commitAt(t, bucket, int(n), nil)
			content, err := bucket.Get(t.Context(), layout.HintKey(0), blob.Range{})
			if err != nil {
				t.Fatal(err)
			}
			if n+1 == test.hint {
				hint = content
			}
		}
		if err := bucket.Replace(t.Context(), layout.HintKey(0), hint); err != nil {
			t.Fatal(err)
		}
		for _, n := range test.gone {
			if err := bucket.Delete(t.Context(), layout.ManifestKey(0, n)); err != nil {
				t.Fatal(err)
			}
		}
		counted := countblob.New(bucket)
		if m, err := manifest.Read(t.Context(), counted, 0); err != nil || m.Generation != test.want || int(counted.Counts().List) != test.lists {
			t.Errorf("%s: read generation %d, %v, by %+v", name, m.Generation, err, counted.Counts())
		}
	}
}

// TestSuspendedCommitter checks commits during which the clock jumps by Fresh, the longest time that
// a commit may take. If it jumps before Commit stores the generation, Commit must begin again. If it
// jumps while the generation is being stored, Commit must fail with ErrRetryable, and leave the hint
// (a copy of the newest generation) as it is.
func TestSuspendedCommitter(t *testing.T) {
	bucket := memblob.New()
	commitAt(t, bucket, 0, nil)
	now, edits := noon, 0
	suspended := func(*manifest.Manifest) error {
		if edits++; edits == 1 {
			commitAt(t, bucket, 1, nil)
			commitAt(t, bucket, 2, nil)
			for n := uint64(1); n <= 2; n++ { // as the collector might do meanwhile
				if err := bucket.Delete(t.Context(), layout.ManifestKey(0, n)); err != nil {
					t.Fatal(err)
				}
			}
			now = now.Add(manifest.Fresh)
		}
		return nil
	}
	m, err := manifest.Commit(t.Context(), bucket, 0, func() time.Time { return now }, suspended)
	if err != nil || m.Generation != 4 || edits != 2 {
		t.Errorf("committed generation %d in %d edits, %v", m.Generation, edits, err)
	}
	slow := faultblob.New(bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create {
			now = now.Add(manifest.Fresh)
		}
		return faultblob.None
	})
	if _, err := manifest.Commit(t.Context(), slow, 0, func() time.Time { return now }, suspended); !errors.Is(err, blob.ErrRetryable) {
		t.Errorf("got %v", err)
	}
	if hint, err := manifest.Hint(t.Context(), bucket, 0); err != nil || hint.Generation != 4 {
		t.Errorf("the hint is of generation %d, %v", hint.Generation, err)
	}
}

func TestHintMayBeLostStaleOrDamaged(t *testing.T) {
	ctx := context.Background()
	bucket := memblob.New()
	first, err := manifest.Commit(ctx, bucket, 0, clock, pack(1))
	if err != nil {
		t.Fatal(err)
	}
	stale, err := bucket.Get(ctx, layout.HintKey(0), blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	newest, err := manifest.Commit(ctx, bucket, 0, clock, pack(2))
	if err != nil {
		t.Fatal(err)
	}
	if newest.Generation != first.Generation+1 {
		t.Fatalf("generation %d follows %d", newest.Generation, first.Generation)
	}
	for name, hint := range map[string][]byte{"stale": stale, "damaged": []byte("{"), "empty": nil, "of another": []byte(`{"partition":4,"generation":9}`)} {
		if err := bucket.Replace(ctx, layout.HintKey(0), hint); err != nil {
			t.Fatal(err)
		}
		if got, err := manifest.Read(ctx, bucket, 0); err != nil || got.Hash() != newest.Hash() {
			t.Errorf("hint %s: generation %d, %v", name, got.Generation, err)
		}
	}
	if err := bucket.Delete(ctx, layout.HintKey(0)); err != nil {
		t.Fatal(err)
	}
	if got, err := manifest.Read(ctx, bucket, 0); err != nil || got.Hash() != newest.Hash() {
		t.Errorf("no hint: generation %d, %v", got.Generation, err)
	}
}

func TestEditDoesNotTouchItsBase(t *testing.T) {
	ctx := context.Background()
	bucket := memblob.New()
	base, err := manifest.Commit(ctx, bucket, 0, clock, pack(1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := manifest.Commit(ctx, bucket, 0, clock, func(m *manifest.Manifest) error {
		m.Packages[0].Indexed = true
		return manifest.ErrUnchanged
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(base.Packages, got.Packages); diff != "" {
		t.Error(diff)
	}
}

// TestCommitOutlastsEveryFault lets each call of the store fail in turn, before or after it took
// effect. It checks that a commit that is tried again takes effect exactly once.
func TestCommitOutlastsEveryFault(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		ctx := context.Background()
		bucket := memblob.New()
		faulty := faultblob.New(bucket, decide)
		for range 2 { // the first may fail
			_, err := manifest.Commit(ctx, faulty, 0, clock, pack(1))
			if err != nil && !errors.Is(err, blob.ErrRetryable) {
				t.Fatal(err)
			}
		}
		m, err := manifest.Read(ctx, bucket, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Packages) != 1 || len(m.Consumed) != 1 {
			t.Errorf("%d packages, %d batches", len(m.Packages), len(m.Consumed))
		}
	})
}

func TestErrorOfAnEditEndsTheCommit(t *testing.T) {
	want := errors.New("no")
	bucket := memblob.New()
	_, err := manifest.Commit(context.Background(), bucket, 0, clock, func(*manifest.Manifest) error { return want })
	if !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
	if m, err := manifest.Read(context.Background(), bucket, 0); err != nil || m.Generation != 0 {
		t.Errorf("generation %d was committed, %v", m.Generation, err)
	}
}

func TestDamagedManifestIsNamed(t *testing.T) {
	ctx := context.Background()
	bucket := memblob.New()
	if err := bucket.Create(ctx, layout.ManifestKey(0, 1), []byte(`{"partition":0,"generation":2}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := manifest.Read(ctx, bucket, 0); err == nil {
		t.Error("a manifest under another's key was read")
	}
}

// TestNewer checks that Newer finds the newest generation from any earlier one, with and without a
// hint (a copy of a generation). If Newer is given the newest generation, it must send a single
// GET.
func TestNewer(t *testing.T) {
	bucket := countblob.New(memblob.New())
	var generations []manifest.Manifest
	for range 4 {
		m, err := manifest.Commit(t.Context(), bucket, 3, time.Now, func(m *manifest.Manifest) error {
			m.Next++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		generations = append(generations, m)
	}
	newest := generations[len(generations)-1]
	for _, hint := range []bool{true, false} {
		for _, known := range append(generations, manifest.Manifest{Partition: 3}) {
			before := bucket.Counts().Get
			found, err := manifest.Newer(t.Context(), bucket, known)
			if err != nil || found.Hash() != newest.Hash() {
				t.Errorf("from generation %d, hint %v: %d, %v", known.Generation, hint, found.Generation, err)
			}
			if gets := bucket.Counts().Get - before; known.Generation == newest.Generation && gets != 1 {
				t.Errorf("nothing is newer: %d GETs", gets)
			}
		}
		if err := bucket.Delete(t.Context(), layout.HintKey(3)); err != nil {
			t.Fatal(err)
		}
	}
}
