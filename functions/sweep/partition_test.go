package sweep

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func TestUndoneWorkIsRaised(t *testing.T) {
	w := newWorld(t, redistest.Embedded(t))
	// A rebuild has read what is spooled, so that it only has to be packed.
	rebuilt := []string{`pack {"storage":0}`, `schedule {"crawl":0}`, `schedule {"crawl":1}`}
	if diff := cmp.Diff(rebuilt, w.run()); diff != "" {
		t.Errorf("sent after the rebuild (-want +got):\n%s", diff)
	}
	functionstest.Put(t, w.bucket, layout.SpoolPrefix(0)+"notes.txt", nil)
	w.spool(4, two+"packed", book.Failed)
	w.spool(5, two+"settled", book.Failed)
	lost := w.spool(6, two+"lost", book.Failed)
	_, err := manifest.Commit(t.Context(), w.bucket, 0, w.clock.Now, func(m *manifest.Manifest) error {
		m.Consumed = append(m.Consumed, manifest.Consumed{Batch: version(4), At: w.clock.Now()})
		m.Add(manifest.Package{Key: "packages/0000/indexed", Indexed: true})
		m.Add(manifest.Package{Key: "packages/0000/not yet"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting := frontier.Waiting{Batch: version(5), Since: w.clock.Now()}
	if err := frontier.NewInbox(w.Redis, 0).Add(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"pack " + lost, `pack {"storage":0}`, "index packages/0000/not yet", `schedule {"crawl":0}`, `schedule {"crawl":1}`,
	}
	for range 2 { // a message is only a hint, so it is sent until the work is done
		if diff := cmp.Diff(want, w.run()); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	}
}

// TestSomeFrontiersAreStale: the others have not read what is spooled, so its
// events are raised.
func TestSomeFrontiersAreStale(t *testing.T) {
	w := newWorld(t, redistest.Embedded(t))
	functionstest.Open(t, w.Redis, w.inForce, 1)
	if err := frontier.New(w.Redis, 1).Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"pack " + layout.SpoolKey(0, version(3)), `schedule {"crawl":0}`, `schedule {"crawl":1}`}
	if diff := cmp.Diff(want, w.run()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

func TestPackedSpoolIsDeletedLater(t *testing.T) {
	w := newWorld(t, redistest.Embedded(t))
	consume := func(token uint64) {
		t.Helper()
		w.spool(token, fmt.Sprint(two, token), book.Failed)
		_, err := manifest.Commit(t.Context(), w.bucket, 0, w.clock.Now, func(m *manifest.Manifest) error {
			m.Consumed = append(m.Consumed, manifest.Consumed{Batch: version(token), At: w.clock.Now()})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	left := func(want ...uint64) {
		t.Helper()
		w.run()
		keys := []string{layout.SpoolKey(0, version(3))} // which is not packed
		var consumed []layout.Version
		for _, token := range want {
			keys, consumed = append(keys, layout.SpoolKey(0, version(token))), append(consumed, version(token))
		}
		if diff := cmp.Diff(keys, functionstest.Keys(t, w.bucket, layout.Spool)); diff != "" {
			t.Errorf("spool (-want +got):\n%s", diff)
		}
		m, err := manifest.Read(t.Context(), w.bucket, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []layout.Version
		for _, c := range m.Consumed {
			got = append(got, c.Batch)
		}
		if diff := cmp.Diff(consumed, got); diff != "" {
			t.Errorf("consumed (-want +got):\n%s", diff)
		}
	}
	consume(10)
	consume(11)
	w.clock.Advance(time.Minute)
	consume(12)
	w.clock.Advance(DefaultKeep - time.Minute - time.Millisecond)
	left(10, 11, 12)
	w.clock.Advance(time.Millisecond)
	left(12)
	w.clock.Advance(time.Minute)
	left()
	left()
}

// A pack that died after it put a batch into the inbox has not settled it: the
// lease is still out.
func TestUnsettledBatchIsRaised(t *testing.T) {
	w := newWorld(t, redistest.Embedded(t))
	w.run()
	front := frontier.New(w.Redis, 0)
	leased, ok, err := front.Lease(t.Context(), frontier.Request{
		Now: w.clock.Now(), Deadline: w.clock.Now().Add(time.Hour), Max: 1, MaxBytes: 1 << 10, Connections: 1,
	})
	if err != nil || !ok {
		t.Fatalf("leased %v, %v", ok, err)
	}
	key := layout.SpoolKey(0, leased.Version)
	functionstest.Put(t, w.bucket, key, nil)
	waiting := frontier.Waiting{Batch: leased.Version, Since: w.clock.Now()}
	if err := frontier.NewInbox(w.Redis, 0).Add(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	if sent := w.run(); !slices.Contains(sent, "pack "+key) {
		t.Errorf("sent %q, and not the event of %s", sent, key)
	}
}
