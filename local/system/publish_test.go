package system

import (
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// TestPartitionsOfDividedBucket: a command that names the number of partitions with which the bucket was created works on
// after partitions were split. One that names a number that the bucket never had fails.
func TestPartitionsOfDividedBucket(t *testing.T) {
	bucket := memblob.New()
	if published, err := publishStrategies(t.Context(), bucket, 2); err != nil || !published {
		t.Fatal(published, err)
	}
	_, err := rules.Change(t.Context(), bucket, rules.Storage, time.Now(), func(newest rules.Document, unused int) ([]rules.Rule, error) {
		return newest.Split(1, unused, 3<<62)
	})
	if err != nil {
		t.Fatal(err)
	}
	for partitions, works := range map[int]bool{0: true, 1: true, 2: true, 5: false} {
		if published, err := publishStrategies(t.Context(), bucket, partitions); published || (err == nil) != works {
			t.Errorf("%d partitions: published %v, %v", partitions, published, err)
		}
	}
}
