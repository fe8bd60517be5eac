package sweep

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// letter is the dead letter of a batch of URLs.
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
	w.bury(letter(gone, one+"c")) // of a batch that was out
	w.clock.Advance(w.Limits.Collect.Grace)
	w.run()
	check("after a batch has died that was out")
	w.bury(letter(one+"a", one+"c"))
	w.forget(nil, one+"c")
	w.run()
	check("after another takedown")
}
