package simulation

import (
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// state is a copy of a bucket. A simulation that begins with it has an empty Redis and empty
// queues.
type state struct {
	at      time.Time
	objects map[string][]byte
}

// state returns a copy of the world's bucket.
func (w *world) state() *state {
	w.t.Helper()
	s := &state{at: w.clock.Now(), objects: map[string][]byte{}}
	for _, key := range w.keys("") {
		content, err := w.store.Get(w.t.Context(), key, blob.Range{})
		if err != nil {
			w.t.Fatal(err)
		}
		s.objects[key] = content
	}
	return s
}

// restore stores the objects of a state in the world's empty bucket, and sets the clock to the
// time of the state.
func (w *world) restore(s *state) {
	w.t.Helper()
	w.clock.Advance(s.at.Sub(w.clock.Now()))
	for key, content := range s.objects {
		if err := w.store.Create(w.t.Context(), key, content); err != nil {
			w.t.Fatal(err)
		}
	}
	w.reread()
}

// crawled crawls a site without faults, and returns the state of the bucket after that.
func crawled(t *testing.T, m *memories, s *site) (done *state) {
	t.Helper()
	inWorld(t, m, plan{site: s}, func(w *world) {
		if !w.settle(longest) {
			t.Fatalf("not done within %v: %s", longest, w.undone())
		}
		done = w.state()
	})
	return done
}
