package sweep

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func TestUndoneWorkIsRaised(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	// A rebuild has read the spool, so that it only has to be packed.
	rebuilt := []string{`pack {"storage":0}`, `schedule {"crawl":0}`, `schedule {"crawl":1}`}
	if diff := cmp.Diff(rebuilt, w.run()); diff != "" {
		t.Errorf("sent after the rebuild (-want +got):\n%s", diff)
	}
	functionstest.Put(t, w.bucket, layout.SpoolPrefix(0)+"notes.txt", nil)
	w.spool(4, two+"packed", book.Failed)
	w.spool(5, two+"settled", book.Failed)
	lost := w.spool(6, two+"lost", book.Failed)
	unsettled := w.spool(7, two+"unsettled", book.Failed)
	_, err := manifest.Commit(t.Context(), w.bucket, 0, w.clock.Now, func(m *manifest.Manifest) error {
		m.Consumed = append(m.Consumed, manifest.Consumed{Batch: version(4), At: w.clock.Now()})
		m.Add(manifest.Package{Key: "packages/0000/indexed", Indexed: true})
		m.Add(manifest.Package{Key: "packages/0000/not yet"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting := frontier.Waiting{Batch: version(5), Since: w.clock.Now(), Settled: true}
	for _, waiting := range []frontier.Waiting{waiting, {Batch: version(7), Since: w.clock.Now()}} {
		if err := frontier.NewInbox(w.Redis, 0).Add(t.Context(), waiting); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"index packages/0000/not yet", "pack " + lost, "pack " + unsettled, `pack {"storage":0}`, `schedule {"crawl":0}`, `schedule {"crawl":1}`,
	}
	for range 2 { // a message is only a hint, so it is sent until the work is done
		if diff := cmp.Diff(want, w.run()); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	}
}

// TestSomeFrontiersAreStale has two frontiers (queues in Redis), of which only one must be rebuilt.
// The rebuild enters the outcomes in the spool into this frontier only. The other one may still
// lack them, so the sweep must also send the function pack the events of the spool objects once
// more.
func TestSomeFrontiersAreStale(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	functionstest.Open(t, w.Redis, w.inForce, 1)
	if err := frontier.New(w.Redis, 1).Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"pack " + layout.SpoolKey(0, version(3)), `schedule {"crawl":0}`, `schedule {"crawl":1}`}
	if diff := cmp.Diff(want, w.run()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// consume puts the spool objects of batches, and records in the manifest that these batches are
// packed now.
func (w *world) consume(tokens ...uint64) {
	w.t.Helper()
	for _, token := range tokens {
		w.spool(token, fmt.Sprint(two, token), book.Failed)
		functionstest.Commit(w.t, w.bucket, 0, func(m *manifest.Manifest) {
			m.Consumed = append(m.Consumed, manifest.Consumed{Batch: version(token), At: w.clock.Now()})
		})
	}
}

// spools returns the tokens (numbers) of the batches that have a spool object, and of those that
// the manifest lists as packed. The result closed is the highest token for which the manifest has
// closed the batch and all earlier ones, so that none of them can be packed any more.
func (w *world) spools() (spooled, consumed []uint64, closed uint64) {
	w.t.Helper()
	for _, key := range functionstest.Keys(w.t, w.bucket, layout.Spool) {
		_, batch, err := layout.ParseSpoolKey(key)
		if err != nil {
			w.t.Fatal(err)
		}
		spooled = append(spooled, batch.Token)
	}
	m := w.manifest(0)
	for _, c := range m.Consumed {
		consumed = append(consumed, c.Batch.Token)
	}
	for closed < 100 && m.IsClosed(version(closed+1)) {
		closed++
	}
	return spooled, consumed, closed
}

func TestPackedSpoolIsDeletedLater(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	check := func(when string, wantSpooled, wantConsumed []uint64, wantClosed uint64) {
		t.Helper()
		w.run()
		spooled, consumed, closed := w.spools()
		if !slices.Equal(spooled, wantSpooled) || !slices.Equal(consumed, wantConsumed) || closed != wantClosed {
			t.Errorf("%s: spool %v, consumed %v, closed up to %d; want %v, %v, %d", when, spooled, consumed, closed, wantSpooled, wantConsumed, wantClosed)
		}
	}
	w.consume(10, 11)
	w.clock.Advance(time.Minute)
	w.consume(12)
	w.clock.Advance(w.Limits.Collect.Keep - time.Minute - time.Millisecond)
	check("too early", []uint64{3, 10, 11, 12}, []uint64{10, 11, 12}, 0)
	w.clock.Advance(time.Millisecond)
	check("while batch 3 is not packed", []uint64{3, 12}, []uint64{10, 11, 12}, 0)
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) {
		m.Consumed = append(m.Consumed, manifest.Consumed{Batch: version(3), At: w.clock.Now()})
	})
	check("batch 3 is packed", []uint64{3, 12}, []uint64{12, 3}, 11)
	w.clock.Advance(time.Minute)
	check("batch 12 is old enough", []uint64{3}, []uint64{3}, 12)
	w.clock.Advance(w.Limits.Collect.Keep)
	check("all are", nil, nil, 12)
	w.spool(11, two+"late", book.Failed)
	w.spool(13, two+"next", book.Failed)
	check("one that comes late", []uint64{13}, nil, 12)
}

// TestLeasedBatchIsNotClosed packs a batch while an earlier batch is still leased, so that the
// spool object of the earlier one may yet come. The manifest must not close this batch: pack would
// then ignore its spool object.
func TestLeasedBatchIsNotClosed(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.run()
	leased := w.lease(0)
	later := layout.Version{Epoch: leased.Version.Epoch, Token: leased.Version.Token + 1}
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) {
		m.Consumed = append(m.Consumed, manifest.Consumed{Batch: later, At: w.clock.Now()})
	})
	w.clock.Advance(w.Limits.Collect.Keep)
	w.run()
	if m := w.manifest(0); !m.HasConsumed(later) || m.IsClosed(leased.Version) {
		t.Errorf("consumed %v, closed %v", m.Consumed, m.Closed)
	}
}

// TestUnsettledBatchIsRaised has a batch in pack's inbox in Redis that is still leased, because
// pack died before it entered the outcomes of the batch in the frontier. The sweep must send pack
// the event of this batch once more.
func TestUnsettledBatchIsRaised(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.run()
	leased := w.lease(0)
	key := layout.SpoolKey(0, leased.Version)
	functionstest.Put(t, w.bucket, key, nil)
	w.waits(leased.Version)
	if sent := w.run(); !slices.Contains(sent, "pack "+key) {
		t.Errorf("sent %q, and not the event of %s", sent, key)
	}
}

// TestUnsettledBatchWithoutSpool has two batches in pack's inbox in Redis whose outcomes are not in
// the frontier. One is packed already, and the other has no spool object. The sweep must send pack
// the events of both once more, so that pack removes them from the inbox.
func TestUnsettledBatchWithoutSpool(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.run()
	w.waits(version(8))
	w.waits(version(9))
	functionstest.Put(t, w.bucket, layout.SpoolKey(0, version(8)), nil)
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) {
		m.Consumed = append(m.Consumed, manifest.Consumed{Batch: version(8), At: w.clock.Now()})
	})
	sent := w.run()
	for _, key := range []string{layout.SpoolKey(0, version(8)), layout.SpoolKey(0, version(9))} {
		if !slices.Contains(sent, "pack "+key) {
			t.Errorf("sent %q, and not the event of %s", sent, key)
		}
	}
}

// waits puts a batch into pack's inbox in Redis. The outcomes of the batch are not in the frontier
// yet, and the batch's entry in the inbox says so.
func (w *world) waits(batch layout.Version) {
	w.t.Helper()
	waiting := frontier.Waiting{Batch: batch, Since: w.clock.Now()}
	if err := frontier.NewInbox(w.Redis, 0).Add(w.t.Context(), waiting); err != nil {
		w.t.Fatal(err)
	}
}

// TestWithoutRedis checks that, when Redis is down, the sweep still does steps that do not need it,
// such as deleting packed spool objects.
func TestWithoutRedis(t *testing.T) {
	rdb := redistest.Server(t)
	w := newWorld(t, rdb)
	w.consume(4)
	w.clock.Advance(w.Limits.Collect.Keep)
	if err := rdb.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.sweepAll(); err == nil {
		t.Error("Run: no error")
	}
	if got := functionstest.Keys(t, w.bucket, layout.Spool); len(got) != 1 {
		t.Errorf("spool %v", got)
	}
}

// TestDueIsAskedAgain checks that the sweep puts a page whose next request is due back into its
// host's queue.
func TestDueIsAskedAgain(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.spool(4, one+"due", book.Stored)
	w.run()
	w.pack(0, 4, one+"due")
	w.clock.Advance(30 * 24 * time.Hour)
	w.run()
	if got := functionstest.Counts(t, w.Redis, 1).Again; got != 1 {
		t.Errorf("%d wait again, want 1", got)
	}
}
