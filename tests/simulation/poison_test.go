package simulation

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const poison = `{"poison": `

// parsing lists the functions to which tests send messages that cannot be parsed. The function watch
// parses its messages, too, but is not in the list because it changes nothing.
var parsing = []string{task.Schedule, task.Fetch, task.Pack, task.Index, task.Merge, task.Rank, task.Sweep}

var poisonKinds = []kind{
	{"a message is poisoned", func(w *world, c *call) (fault, string, bool) {
		function := parsing[w.random.IntN(len(parsing))]
		c.process.runner.queue.send(function, poison, 0)
		return none, "to " + function, true
	}},
}

// TestPoison sends every function a message that it cannot parse. The message must become a
// dead letter with a reason at its first delivery, and it must be possible to send it again, unless it is a tick of a clock.
func TestPoison(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	want, _ := quiet(t, m, small)
	inWorld(t, m, plan{site: small}, func(w *world) {
		for _, function := range parsing {
			w.runners[0].queue.send(function, poison, 0)
		}
		w.run()
		w.check(want)
		left := parsing
		for range 2 {
			letters := w.keys(layout.DeadLetters)
			if len(letters) != len(left) {
				t.Fatalf("%d dead letters, want %d: %v", len(letters), len(left), letters)
			}
			left = slices.DeleteFunc(slices.Clone(left), task.IsOnlyTicked) // ticks are not sent again
			for _, key := range letters {
				content, err := w.store.Get(t.Context(), key, blob.Range{})
				if err != nil {
					t.Fatal(err)
				}
				written, err := message.DecodeDeadLetter(content)
				if err != nil {
					t.Fatal(err)
				}
				if written.Body != poison || written.Reason == "" || written.Receives != 1 {
					t.Errorf("dead letter %+v", written)
				}
				functionstest.Put(t, w.store, layout.ResendKey(key), nil)
			}
			w.run()
		}
	})
}

// TestKiller crawls a site with a page that kills each process that fetches it. The page must fail.
// For all other pages, the result must be that of a run without kills.
func TestKiller(t *testing.T) {
	t.Parallel()
	const killer = "http://one.example/killer"
	with := *small
	with.pages = maps.Clone(small.pages)
	first := with.pages["one.example/"]
	first.links = append([]string{killer}, first.links...)
	with.pages["one.example/"] = first

	m := newMemories(t)
	want, _ := quiet(t, m, &with)
	for _, panics := range []bool{false, true} {
		t.Run(fmt.Sprint("panics ", panics), func(t *testing.T) {
			inWorld(t, m, plan{site: &with, decide: func(_ *world, c *call) fault {
				if c.what == "ask "+killer && !panics {
					return death
				}
				return none
			}}, func(w *world) {
				if panics {
					w.web.panicAt = killer
				}
				w.run()
				got := w.result()
				if given := got.States[killer]; given != "failed fetch died" {
					t.Errorf("the killer is %q, want it failed", given)
				}
				got.States[killer] = want.States[killer]
				w.compare(want, got)
			})
		})
	}
}
