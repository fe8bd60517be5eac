package sweep

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// letter returns the dead letter (message that was given up) of a batch of the URLs.
func letter(urls ...string) message.DeadLetter {
	var b batch.Batch
	for _, url := range urls {
		b.Targets = append(b.Targets, batch.Target{URL: url})
	}
	body, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	return message.DeadLetter{Queue: task.Fetch, Body: string(body)}
}

func TestForgetLetters(t *testing.T) {
	w := newQuiet(t)
	var want []string
	for _, kept := range []message.DeadLetter{
		letter(one+"a", one+"b"), {Queue: task.Fetch, Body: "no batch"}, {Queue: task.Index, Body: gone},
	} {
		w.bury(kept)
		want = append(want, kept.Key())
	}
	w.bury(letter(secret))
	w.run()
	if got := functionstest.Keys(t, w.bucket, layout.DeadLetters); len(got) != 4 {
		t.Errorf("before the takedown: %v", got)
	}
	check := func(when string) {
		t.Helper()
		if diff := cmp.Diff(sorted(want...), functionstest.Keys(t, w.bucket, layout.DeadLetters)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	w.wish(letter(one+"b", gone))
	w.forget([]string{"secret.example"}, gone)
	sent := w.run()
	check("after the takedown")
	if slices.Contains(sent, task.Fetch+" "+letter(one+"b", gone).Body) {
		t.Errorf("sent %q", sent)
	}
	w.bury(letter(gone, one+"c")) // letter of a batch that was leased
	w.clock.Advance(w.Limits.Collect.Grace)
	w.run()
	check("after a batch has died that was out")
	w.bury(letter(one+"a", one+"c"))
	w.forget(nil, one+"c")
	w.run()
	check("after another takedown")
}

// bury stores a dead letter, the copy of a message that was given up.
func (w *world) bury(d message.DeadLetter) {
	w.t.Helper()
	d.At = w.clock.Now()
	content, err := d.Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	functionstest.Put(w.t, w.bucket, d.Key(), content)
}

func (w *world) wish(d message.DeadLetter) {
	w.t.Helper()
	w.bury(d)
	functionstest.Put(w.t, w.bucket, layout.ResendKey(d.Key()), nil)
}

func TestResend(t *testing.T) {
	w := newQuiet(t)
	kept, again := message.DeadLetter{Queue: task.Fetch, Body: "kept"}, message.DeadLetter{Queue: task.Index, Body: "again"}
	w.bury(kept)
	w.wish(again)
	absent := layout.DeadLetterKey(task.Fetch, layout.ContentHash([]byte("absent")))
	functionstest.Put(t, w.bucket, layout.ResendKey(absent), nil)
	damaged := layout.DeadLetterKey(task.Fetch, layout.ContentHash([]byte("damaged")))
	functionstest.Put(t, w.bucket, damaged, []byte("{"))
	functionstest.Put(t, w.bucket, layout.ResendKey(damaged), nil)
	if err := w.sweepAll(); err == nil || !strings.Contains(err.Error(), damaged) {
		t.Errorf("Run: %v, want it to name %s", err, damaged)
	}
	sent := 0
	for _, m := range w.sender.Take() {
		if m == (functionstest.Message{Queue: task.Index, Body: "again", Delay: resendDelay}) {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("sent %d times", sent)
	}
	want := sorted(kept.Key(), damaged, layout.ResendKey(damaged))
	if diff := cmp.Diff(want, functionstest.Keys(t, w.bucket, layout.DeadLetters)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// TestResendTick checks that the dead letter of a clock's tick is deleted without being sent: on AWS, rank has no queue,
// and an earlier version of the program has left the letter.
func TestResendTick(t *testing.T) {
	w := newQuiet(t)
	w.wish(message.DeadLetter{Queue: task.Rank, Body: "{}"})
	if sent := w.run(); slices.Contains(sent, task.Rank+" {}") {
		t.Errorf("sent %q", sent)
	}
	if got := functionstest.Keys(t, w.bucket, layout.DeadLetters); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
}

// TestResendFails checks that a dead letter, the copy of a message that was given up, stays in the
// bucket if its message cannot be sent again.
func TestResendFails(t *testing.T) {
	w := newQuiet(t)
	w.wish(message.DeadLetter{Queue: task.Index, Body: "again"})
	w.sender.Fail(errors.New("refused"))
	if err := w.sweepAll(); err == nil {
		t.Error("no error")
	}
	if got := functionstest.Keys(t, w.bucket, layout.DeadLetters); len(got) != 2 {
		t.Errorf("kept %v", got)
	}
}
