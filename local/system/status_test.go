package system

import (
	"fmt"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/spool"
)

// TestStatusCountsUnpacked checks that the status counts the pages in the spool, without a Redis: they are stored, but
// wait to be packed.
func TestStatusCountsUnpacked(t *testing.T) {
	bucket := memblob.New()
	functionstest.Publish(t, bucket, 2, nil, "http://a.example/")
	for storage := range layout.Partition(2) {
		batch := layout.Version{Epoch: 1, Token: uint64(storage) + 1}
		below := fmt.Sprintf("http://a.example/%d/", storage)
		ledger := spool.Ledger{Batch: batch, Ended: functionstest.Start, Outcomes: []book.Outcome{
			functionstest.Outcome(t, batch, below+"stored", book.Stored),
			functionstest.Outcome(t, batch, below+"failed", book.Failed),
		}}
		functionstest.Put(t, bucket, layout.SpoolKey(storage, batch), functionstest.Spool(t, ledger))
	}
	status, err := ReadStatus(t.Context(), bucket, countblob.Counts{}, "")
	if err != nil || status.Unpacked != 2 || status.Stored != 2 {
		t.Errorf("%d stored, %d unpacked, error %v, want 2 and 2", status.Stored, status.Unpacked, err)
	}
}

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
