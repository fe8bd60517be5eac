package system

import (
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestStatusCountsUnvisited checks that the status counts URLs without a stored page, and those that
// a limit has left out, over all partitions.
func TestStatusCountsUnvisited(t *testing.T) {
	bucket := memblob.New()
	inForce := functionstest.Publish(t, bucket, 2, nil, "http://a.example/")
	for _, id := range inForce.Partitions() {
		p, err := partition.Open(t.Context(), bucket, id, func() time.Time { return functionstest.Start })
		if err != nil {
			t.Fatal(err)
		}
		content, err := segments.Build([]*segments.Page{{Document: segment.Document{URL: "http://b.example/", Title: "Write"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Commit(t.Context(), func(e *partition.Edit) error {
			_, err := e.SetUnvisited(t.Context(), content, 1, 5)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	status, err := ReadStatus(t.Context(), bucket, countblob.Counts{}, "")
	if err != nil || status.Unvisited != 2 || status.UnvisitedCut != 10 {
		t.Errorf("%d unvisited, %d cut, error %v", status.Unvisited, status.UnvisitedCut, err)
	}
}
