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

// Claims that are lost are not given again: a new epoch is higher than those of all batches that are known.
func TestLostClaims(t *testing.T) {
	consumed, closed := layout.Version{Epoch: 7, Token: 3}, layout.Version{Epoch: 8, Token: 1}
	spooled := layout.SpoolKey(2, layout.Version{Epoch: 9, Token: 4})
	for name, test := range map[string]struct {
		read manifest.Manifest
		want uint64
	}{
		"nothing is known":     {manifest.Manifest{Partition: 1}, 3},
		"a consumed batch":     {manifest.Manifest{Partition: 1, Consumed: []manifest.Consumed{{Batch: consumed}}}, 8},
		"a closed batch":       {manifest.Manifest{Partition: 1, Closed: []layout.Version{closed}}, 9},
		"a batch in the spool": {manifest.Manifest{Partition: 2, Closed: []layout.Version{closed}}, 10},
	} {
		bucket := memblob.New()
		for _, key := range []string{layout.EpochKey(2), spooled} {
			if err := bucket.Create(t.Context(), key, nil); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := epoch.Claim(t.Context(), bucket, "me", test.read); err != nil || got != test.want {
			t.Errorf("%s: epoch %d, %v, want %d", name, got, err, test.want)
		}
	}
}
