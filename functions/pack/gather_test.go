package pack

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// reminders returns the tasks that were sent to pack.
func (w *world) reminders() []functionstest.Message {
	var all []functionstest.Message
	for _, m := range w.sender.Take() {
		if m.Queue == task.Pack {
			all = append(all, m)
		}
	}
	return all
}

func TestPackByAge(t *testing.T) {
	w := embedded(t)
	for token := uint64(1); token <= 3; token++ {
		w.spool(w.stored(token))
		w.settle(token)
		w.clock.Advance(10 * time.Second)
	}
	want := []functionstest.Message{{Queue: task.Pack, Body: `{"storage":0}`, Delay: time.Minute}}
	if diff := cmp.Diff(want, w.reminders()); diff != "" {
		t.Errorf("reminders (-want +got):\n%s", diff)
	}
	w.clock.Advance(30*time.Second - time.Millisecond)
	w.gather(false)
	if got := w.manifest().Generation; got != 1 {
		t.Fatalf("packed before its time: generation %d", got)
	}
	w.clock.Advance(time.Millisecond)
	w.gather(false)
	m := w.manifest()
	if len(m.Packages) != 1 || m.Packages[0].Pages != 3 || len(m.Consumed) != 3 || functionstest.Inbox(t, w.Redis, 0) != nil {
		t.Errorf("packages %+v, consumed %+v", m.Packages, m.Consumed)
	}
	// For a batch after that, another task is sent.
	w.spool(w.stored(4))
	w.settle(4)
	if diff := cmp.Diff(want, w.reminders()); diff != "" {
		t.Errorf("reminders after packing (-want +got):\n%s", diff)
	}
}

// TestFirstPackages settles batches of one page in a new partition. The first page must be packed at
// once, and then as many pages as were packed before, so that packages grow. When Redis has lost the
// number of packed pages, one more package is small.
func TestFirstPackages(t *testing.T) {
	w := embedded(t)
	w.packed(0)
	settle := func(from, to uint64) (pages []int) {
		for token := from; token <= to; token++ {
			w.spool(w.stored(token))
			w.settle(token)
		}
		for _, p := range w.manifest().Packages {
			pages = append(pages, p.Pages)
		}
		return pages
	}
	if diff := cmp.Diff([]int{1, 1, 2, 4, 8}, settle(1, 31)); diff != "" {
		t.Errorf("pages of packages (-want +got):\n%s", diff)
	}
	w.Redis.FlushDB(t.Context())
	functionstest.Open(t, w.Redis, w.inForce, 1)
	functionstest.Admit(t, w.Redis, w.inForce, "http://other."+host+"/")
	if diff := cmp.Diff([]int{1, 1, 2, 4, 8, 1}, settle(32, 47)); diff != "" {
		t.Errorf("pages of packages after the loss of Redis (-want +got):\n%s", diff)
	}
}

// TestNothingStored settles a batch without pages in a new partition: nobody waits to search it, so it
// must not be packed at once.
func TestNothingStored(t *testing.T) {
	w := embedded(t)
	w.packed(0)
	w.spool(w.ledger(1, functionstest.Outcome(t, version(1), site, book.Failed)))
	w.settle(1)
	if got := w.manifest().Packages; len(got) > 0 || len(w.waiting()) != 1 {
		t.Errorf("%d packages, and %d batches wait, want one that waits", len(got), len(w.waiting()))
	}
}

func TestPackByBytes(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.settle(1)
	waiting, err := frontier.NewInbox(w.Redis, 0).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Limits.Bytes = 3 * waiting[0].Bytes
	for token := uint64(2); token <= 7; token++ {
		w.spool(w.stored(token))
		w.settle(token)
	}
	var pages []int
	for _, p := range w.manifest().Packages {
		pages = append(pages, p.Pages)
	}
	if diff := cmp.Diff([]int{3, 3}, pages); diff != "" {
		t.Errorf("pages of packages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]layout.Version{version(7)}, functionstest.Inbox(t, w.Redis, 0)); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
	// Many batches at once, as after a pause, still make packages of the right size.
	w.Limits.Bytes = 100 * waiting[0].Bytes
	w.packed(1000)
	for token := uint64(8); token <= 13; token++ {
		w.spool(w.stored(token))
		w.settle(token)
	}
	w.Limits.Bytes = 3 * waiting[0].Bytes
	w.gather(true)
	if m := w.manifest(); len(m.Packages) != 5 || m.Packages[4].Pages != 1 {
		t.Errorf("packages %+v, want five, the last of one page", m.Packages)
	}
}

// TestPackByNumber lets as many spool objects wait as Gather reads at once. Some of them may never be read, so
// they must be packed, although they are young and small.
func TestPackByNumber(t *testing.T) {
	w := embedded(t)
	inbox := frontier.NewInbox(w.Redis, 0)
	for token := range uint64(enough) {
		waiting := frontier.Waiting{Batch: version(token + 1), Bytes: 1, Since: w.clock.Now(), Settled: true}
		if err := inbox.Add(t.Context(), waiting); err != nil {
			t.Fatal(err)
		}
		if token == enough-2 {
			w.gather(false)
			if got, err := inbox.Len(t.Context()); err != nil || got != enough-1 {
				t.Fatalf("%d wait, %v, want all but the last", got, err)
			}
		}
	}
	w.gather(false)
	if got, err := inbox.Len(t.Context()); err != nil || got != 0 {
		t.Errorf("%d wait, %v, want none", got, err)
	}
}

func TestPackAtTheEnd(t *testing.T) {
	w := embedded(t)
	other := functionstest.Outcome(t, version(1), "http://other."+host+"/", book.Stored)
	w.spool(w.ledger(1, other)) // the last of the waiting batches
	w.settle(1)
	if m := w.manifest(); len(m.Packages) != 1 {
		t.Errorf("packages %+v, want one at once", m.Packages)
	}
}

func TestFlush(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.settle(1)
	w.gather(true)
	if m := w.manifest(); len(m.Packages) != 1 {
		t.Errorf("packages %+v, want one at once", m.Packages)
	}
	w.gather(true)
	if m := w.manifest(); m.Generation != 2 {
		t.Errorf("generation %d, want nothing more to be committed", m.Generation)
	}
}

// TestAnotherPacks runs Gather while another process has the lease on packing the partition. It
// must only send pack a task, to try again later.
func TestAnotherPacks(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.settle(1)
	w.sender.Take()
	_, _, err := lease.New(w.Redis, "another").Acquire(t.Context(), "pack 0000", w.clock.Now(), leaseTime)
	if err != nil {
		t.Fatal(err)
	}
	w.gather(true)
	want := []functionstest.Message{{Queue: task.Pack, Body: `{"storage":0,"flush":true}`, Delay: time.Second}}
	if diff := cmp.Diff(want, w.sender.Take()); diff != "" || w.manifest().Generation != 1 {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	w.clock.Advance(leaseTime)
	w.gather(true)
	if w.manifest().Generation != 2 {
		t.Error("not packed after the end of the lease")
	}
}

func TestHandle(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	response, err := w.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "garbage", Body: "?"},
		{MessageId: "test", Body: `{"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"b"}`},
		{MessageId: "event", Body: string(message.S3Event("b", spoolKey(1), 9, w.clock.Now()))},
		{MessageId: "foreign", Body: string(message.S3Event("b", "spool/notes.txt", 9, w.clock.Now()))},
		{MessageId: "task", Body: `{"storage":0,"flush":true}`},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []events.SQSBatchItemFailure{{ItemIdentifier: "garbage"}, {ItemIdentifier: "foreign"}}
	if diff := cmp.Diff(want, response.BatchItemFailures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if w.manifest().Generation != 2 {
		t.Error("the event was not settled, or the task not obeyed")
	}
}
