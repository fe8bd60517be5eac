package epoch_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/epoch"
)

func TestEveryClaimIsGivenOnce(t *testing.T) {
	bucket := memblob.New()
	const claims = 20
	given := make([]uint64, claims)
	var all sync.WaitGroup
	for i := range claims {
		all.Go(func() {
			var err error
			if given[i], err = epoch.Claim(t.Context(), bucket, fmt.Sprint(i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	seen := make(map[uint64]bool)
	for _, n := range given {
		if n < 1 || n > claims || seen[n] {
			t.Errorf("given %v, want each of 1 to %d once", given, claims)
			break
		}
		seen[n] = true
	}
	if last, err := epoch.Last(t.Context(), bucket); err != nil || last != claims {
		t.Errorf("last %d, %v, want %d", last, err, claims)
	}
}

func TestAnEpochIsNeverGivenAgain(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		bucket := faultblob.New(memblob.New(), decide)
		var given uint64
		for i := range 3 {
			n, err := epoch.Claim(t.Context(), bucket, fmt.Sprint(i))
			switch {
			case errors.Is(err, blob.ErrRetryable):
			case err != nil:
				t.Fatal(err)
			case n <= given:
				t.Errorf("epoch %d after %d", n, given)
			default:
				given = n
			}
		}
	})
}

// A claim records which generations of manifests the claimer has read. A claim in the format of an
// earlier version of the program has no such record, and must still be readable.
func TestClaimTellsGenerations(t *testing.T) {
	bucket := memblob.New()
	if err := bucket.Create(t.Context(), layout.EpochKey(1), []byte("worker nonce\n")); err != nil {
		t.Fatal(err)
	}
	n, err := epoch.Claim(t.Context(), bucket, "test", manifest.Manifest{Partition: 3, Generation: 7}, manifest.Manifest{Partition: 12, Generation: 9})
	if err != nil || n != 2 {
		t.Fatalf("claimed %d, %v", n, err)
	}
	for n, want := range []layout.Claim{
		{By: "worker nonce"},
		{By: "test", Generations: map[layout.Partition]uint64{3: 7, 12: 9}},
	} {
		content, err := bucket.Get(t.Context(), layout.EpochKey(uint64(n+1)), blob.Range{})
		if err != nil {
			t.Fatal(err)
		}
		got := layout.ReadClaim(content)
		got.Nonce = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("epoch %d (-want +got):\n%s", n+1, diff)
		}
	}
}

// Objects below epochs/ are claims on epochs. Claim must ignore objects there whose keys do not have
// the form that layout.EpochKey gives the keys of claims.
func TestForeignKey(t *testing.T) {
	bucket := memblob.New()
	for _, key := range []string{"0notes", "notes", "notes/000000000009"} {
		if err := bucket.Create(t.Context(), layout.Epochs+key, []byte(`{"generations":{"0":9}}`)); err != nil {
			t.Fatal(err)
		}
	}
	for want := range uint64(3) {
		if n, err := epoch.Claim(t.Context(), bucket, "claim"); err != nil || n != want+1 {
			t.Errorf("claimed %d, %v, want %d", n, err, want+1)
		}
	}
}
