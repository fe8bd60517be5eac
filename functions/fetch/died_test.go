package fetch

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// deliver hands a batch to the function as its queue does when it delivers the message for the n-th
// time. It reports whether the message is done, and will not be delivered again.
func (w *world) deliver(t *testing.T, b batch.Batch, n int) bool {
	t.Helper()
	body, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	m := events.SQSMessage{MessageId: "m", Body: string(body), Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(n)}}
	response, err := w.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{m}})
	if err != nil {
		t.Fatal(err)
	}
	return len(response.BatchItemFailures) == 0
}

// ledger returns the ledger (outcomes and links) in the spool object of a batch; false if there is
// no object.
func (w *world) ledger(t *testing.T, b batch.Batch) (spool.Ledger, bool) {
	t.Helper()
	ledger, err := spool.ReadLedger(t.Context(), w.bucket, layout.SpoolKey(b.Storage, b.Version))
	if errors.Is(err, blob.ErrAbsent) {
		return spool.Ledger{}, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return ledger, true
}

func TestFetchDied(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", "<p>"))
	deadline := w.batch().Deadline
	for i, test := range []struct {
		name     string
		receives int
		at       time.Time
		want     []end // ends of the targets; nil if no object is put
	}{
		{"in time", 2, deadline.Add(-time.Millisecond), []end{{book.NotAsked, ""}, {book.NotAsked, ""}, {book.Skipped, "robots"}}},
		{"late for the first time", 1, deadline, nil},
		{"late again", 2, deadline, []end{{book.Retry, "fetch died"}, {book.Retry, "fetch died"}, {book.NotAsked, ""}}},
		{"very late", 9, deadline.Add(maxLate), []end{{book.Retry, "fetch died"}, {book.Retry, "fetch died"}, {book.NotAsked, ""}}},
		{"too late", 9, deadline.Add(maxLate + 1), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := w.batch("/1", "/2", "/3")
			b.Version.Token += uint64(i)
			b.Targets[1].Attempts, b.Targets[2].Denied = MaxAttempts-1, "robots"
			w.clock.now = test.at
			if !w.deliver(t, b, test.receives) {
				t.Error("the message comes again")
			}
			ledger, found := w.ledger(t, b)
			slices.SortFunc(ledger.Outcomes, func(x, y book.Outcome) int { return strings.Compare(x.URL, y.URL) })
			if diff := cmp.Diff(test.want, ends(spool.Spool{Ledger: ledger})); diff != "" {
				t.Error(diff)
			}
			if found && test.want[0].Reason == "fetch died" {
				var attempts []uint8
				for _, o := range ledger.Outcomes {
					attempts = append(attempts, o.Attempts)
				}
				if diff := cmp.Diff([]uint8{1, MaxAttempts - 1, 0}, attempts); diff != "" {
					t.Errorf("attempts: %s", diff)
				}
				if ledger.Crawl != b.Crawl || ledger.Host != b.Host || !ledger.Ended.Equal(test.at) {
					t.Errorf("ledger %+v is not that of the batch", ledger)
				}
			}
		})
	}
}

// TestDiedAfterPut delivers the message of a batch again after the batch's deadline. An earlier
// fetch has put the batch's spool object, which must stay as it is. Then the same happens for a
// batch without an object, while the bucket cannot be reached. This message must not be dropped.
func TestDiedAfterPut(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", "<p>"))
	b := w.batch("/")
	w.run(t, b)
	w.clock.now = b.Deadline
	if !w.deliver(t, b, 2) {
		t.Error("the message comes again")
	}
	if ledger, _ := w.ledger(t, b); len(ledger.Outcomes) != 1 || ledger.Outcomes[0].State != book.Stored {
		t.Errorf("the object is now %+v", ledger)
	}
	w.Bucket = faultblob.New(w.bucket, func(faultblob.Call) faultblob.Fault { return faultblob.Before })
	b.Version.Token++
	if w.deliver(t, b, 2) {
		t.Error("the message is done though nothing was put")
	}
}

// TestKillerIsFound crawls a host with one page that crashes every fetch that requests it. In the
// end only this page may have failed, and all others must be stored. In the second case, there is
// an outage of the queue first: fetch gets the first batches only after their deadlines, so that
// their URLs are leased once more without having been requested.
func TestKillerIsFound(t *testing.T) {
	if MaxAttempts <= frontier.Alone {
		t.Fatalf("a URL would fail without ever having been leased alone, from %d attempts", frontier.Alone)
	}
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		t.Run("at once", func(t *testing.T) { testKiller(t, rdb, 0) })
		t.Run("after an outage", func(t *testing.T) { testKiller(t, rdb, 5) })
	})
}

func testKiller(t *testing.T, rdb *redis.Client, outages int) {
	const urls, killer = 40, "/17"
	w := newWorld(t, respond(200, "text/html", "<p>"))
	front := w.admit(t, rdb, urls)
	deaths := 0
	var late []batch.Batch // batches that were taken by a fetch that crashed
	for round := 0; ; round++ {
		if round == 100 {
			t.Fatal("it never ends")
		}
		b, leased := w.lease(t, front)
		if !leased {
			break
		}
		switch {
		case round < outages: // the queue is down: the batch is never delivered in time
			w.clock.now = b.Deadline.Add(time.Millisecond)
			w.deliver(t, b, 1)
		case slices.ContainsFunc(b.Targets, func(t batch.Target) bool { return strings.HasSuffix(t.URL, killer) }):
			deaths++
			w.clock.now = b.Deadline.Add(time.Millisecond)
			late = append(late, b)
		default:
			w.deliver(t, b, 1)
			w.settle(t, front, b)
		}
		if round >= outages && len(late) > 1 { // the batch comes again when its URLs are leased anew
			w.deliver(t, late[0], 2)
			w.settle(t, front, late[0])
			late = late[1:]
		}
	}
	counts, err := front.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := (frontier.Counts{Stored: urls - 1, Failed: 1}); counts != want {
		t.Errorf("%+v, want %+v", counts, want)
	}
	if deaths > 2*MaxAttempts { // the crash is counted only after the URL has been leased again
		t.Errorf("%d fetches died", deaths)
	}
}

// TestOutage lets every put of a spool object fail for ten minutes. Meanwhile the URLs are leased
// again each time that a lease ends, and the messages of the earlier batches are delivered again:
// to the same process or, in the second case, to other processes. All URLs must be stored in the
// end; none may fail because of the many leases.
func TestOutage(t *testing.T) {
	for name, others := range map[string]bool{"one process": false, "many processes": true} {
		t.Run(name, func(t *testing.T) {
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) { testOutage(t, rdb, others) })
		})
	}
}

func testOutage(t *testing.T, rdb *redis.Client, others bool) {
	const urls = 5 // so few that some URLs are leased often
	w := newWorld(t, respond(200, "text/html", "<p>"))
	front := w.admit(t, rdb, urls)
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && w.clock.now.Before(start.Add(10*time.Minute)) {
			return faultblob.Before
		}
		return faultblob.None
	})
	done := func(b batch.Batch, n int) bool {
		if others {
			w.Function = w.another()
		}
		if !w.deliver(t, b, n) {
			return false
		}
		if _, found := w.ledger(t, b); found {
			w.settle(t, front, b)
		}
		return true
	}
	var again []batch.Batch // batches whose object could not be put
	for round := 0; ; round++ {
		if round == 100 {
			t.Fatal("it never ends")
		}
		b, leased := w.lease(t, front)
		if !leased {
			break
		}
		again = slices.DeleteFunc(again, func(b batch.Batch) bool { return done(b, 2) })
		if !done(b, 1) {
			again = append(again, b)
			w.clock.now = b.Deadline.Add(time.Millisecond)
		}
	}
	counts, err := front.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := (frontier.Counts{Stored: urls}); counts != want {
		t.Errorf("%+v, want %+v", counts, want)
	}
}

// TestFailedRuns lets so many runs fail that the set failedRuns is full and drops the first batch.
// Then all batches are delivered again, after their deadline. The first one must count as crashed,
// so that its URLs get the outcome of a retry. The URLs of all others must be "not asked".
func TestFailedRuns(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", "<p>"))
	w.Bucket = faultblob.New(w.bucket, func(faultblob.Call) faultblob.Fault { return faultblob.Before })
	first := w.batch("/")
	for i := range maxFailedRuns + 1 {
		b := first
		b.Version.Token += uint64(i)
		if w.deliver(t, b, 1) {
			t.Fatal("the message is done though the bucket is away")
		}
	}
	w.Bucket, w.clock.now = w.bucket, first.Deadline
	for offset, want := range map[uint64]end{0: {book.Retry, "fetch died"}, 1: {book.NotAsked, ""}, maxFailedRuns: {book.NotAsked, ""}} {
		b := first
		b.Version.Token += offset
		w.deliver(t, b, 2)
		ledger, _ := w.ledger(t, b)
		if diff := cmp.Diff([]end{want}, ends(spool.Spool{Ledger: ledger})); diff != "" {
			t.Errorf("batch %d: %s", offset, diff)
		}
	}
}

// admit opens a frontier (the queues of URLs in Redis) and adds the given number of URLs to it.
func (w *world) admit(t *testing.T, rdb *redis.Client, urls int) *frontier.Frontier {
	t.Helper()
	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	front := frontier.New(rdb, 2)
	if err := front.Open(t.Context(), 1, "", nil); err != nil {
		t.Fatal(err)
	}
	var entries []frontier.Entry
	for i := range urls {
		url := w.server.URL + "/" + strconv.Itoa(i)
		entries = append(entries, frontier.Entry{URL: url, ID: layout.IdentityOf(url), Host: "h", Collection: "c"})
	}
	if _, err := front.Admit(t.Context(), start, entries); err != nil {
		t.Fatal(err)
	}
	return front
}

// lease leases a batch of URLs, as schedule does; false if none can be leased now.
func (w *world) lease(t *testing.T, front *frontier.Frontier) (batch.Batch, bool) {
	t.Helper()
	if _, err := front.Expire(t.Context(), w.clock.now); err != nil {
		t.Fatal(err)
	}
	lease, leased, err := front.Lease(t.Context(), frontier.Request{
		Now: w.clock.now, Deadline: w.clock.now.Add(2 * time.Minute), Max: 100, MaxBytes: 1 << 16, Connections: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	b := batch.Batch{Version: lease.Version, Crawl: 2, Storage: 3, Host: lease.Host, NotBefore: lease.NotBefore, Deadline: lease.Deadline}
	for _, e := range lease.Entries {
		b.Targets = append(b.Targets, batch.Target{URL: e.URL, Attempts: e.Attempts, Collections: []string{e.Collection}})
	}
	return b, leased
}

// settle applies the outcomes in a batch's spool object to the frontier, as pack does.
func (w *world) settle(t *testing.T, front *frontier.Frontier, b batch.Batch) {
	t.Helper()
	ledger, found := w.ledger(t, b)
	if !found {
		t.Fatalf("batch %s left nothing", b.Version)
	}
	s := frontier.Settlement{Version: b.Version, Host: ledger.Host, Ended: ledger.Ended}
	for _, o := range ledger.Outcomes {
		s.Outcomes = append(s.Outcomes, frontier.Result{ID: o.Identity(), Place: o.Place, State: o.State, Attempts: o.Attempts})
	}
	if _, err := front.Settle(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}
