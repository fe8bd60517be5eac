package cloud

import (
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// A message that SQS gives up, because its function was killed each time, is a dead letter in the bucket after the next
// sweep, and its queue of dead letters is empty. When a person sends it again, it is delivered, and nothing is left of
// it. A dead letter that the function has stored itself keeps its reason.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	c, said := start(t, false)
	c.publish(t, 0, "http://127.0.0.1:1/") // where nothing answers
	kept := message.DeadLetterStore{Bucket: c.Bucket, Now: time.Now}
	killed := message.DeadLetter{Queue: task.Merge, Body: `{"storage":0}`, Receives: message.MaxReceives}
	failed := message.DeadLetter{Queue: task.Index, Body: `{"storage":0,"ended":true}`, Receives: message.MaxReceives, Reason: "bad luck"}
	if !kept.Store(t.Context(), failed) {
		t.Fatal("a dead letter is not stored")
	}
	for _, d := range []message.DeadLetter{killed, failed} {
		d.Queue = stackName + "-" + d.Queue
		c.queues.bury(stackName+"-dead", d)
	}
	c.sweep(t, said)
	for _, want := range []message.DeadLetter{killed, failed} {
		content, err := c.Bucket.Get(t.Context(), want.Key(), blob.Range{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := message.DecodeDeadLetter(content)
		if err != nil || got.Queue != want.Queue || got.Body != want.Body || got.Receives != message.MaxReceives || (got.Reason == "bad luck") != (want.Reason != "") {
			t.Errorf("dead letter %+v, %v; want %+v", got, err, want)
		}
		if err := c.Bucket.Create(t.Context(), layout.ResendKey(want.Key()), nil); err != nil {
			t.Fatal(err)
		}
	}
	before := c.meter.bill()
	c.sweep(t, said)
	if n := c.meter.bill().since(before)["Merge"].Invocations; n != 1 {
		t.Errorf("merge was invoked %d times", n)
	}
	if left, err := blob.List(t.Context(), c.Bucket, layout.DeadLetters); err != nil || len(left) > 0 {
		t.Errorf("left %+v, %v", left, err)
	}
	if failed := c.Failed(); len(failed) > 0 {
		t.Errorf("failures: %q\n%s", failed, said.take())
	}
}

// sweep makes the clock of the function sweep tick, and waits until everything is done that it has begun.
func (c *Cloud) sweep(t *testing.T, said *lines) {
	t.Helper()
	if err := c.Tick("SweepClock"); err != nil {
		t.Fatal(err)
	}
	c.await(t, said, always)
}
