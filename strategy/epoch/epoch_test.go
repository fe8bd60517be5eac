package epoch_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
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
			if given[i], err = epoch.Claim(t.Context(), bucket, fmt.Append(nil, i)); err != nil {
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
			n, err := epoch.Claim(t.Context(), bucket, fmt.Append(nil, i))
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

func TestForeignKey(t *testing.T) {
	bucket := memblob.New()
	if err := bucket.Create(t.Context(), layout.Epochs+"notes", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := epoch.Claim(t.Context(), bucket, []byte("claim")); err == nil {
		t.Error("no error, though the epochs cannot be told")
	}
}
