package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

var first, later, last = &search.Asked{Patience: time.Minute}, &search.Asked{Patience: time.Minute, Expanded: make([]map[string]uint64, 1)}, &search.Asked{Patience: time.Minute, Totals: new(search.Totals)}

// TestRests lets a leaf fail, and notes when it is asked, and for how long a step may take.
func TestRests(t *testing.T) {
	var b breakers
	now := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	begins := func(what string, a *search.Asked, want time.Duration) {
		t.Helper()
		if patience, asks := b.begin("a", a, now); patience != want || asks != (want > 0) || b.rests("a") != (want < time.Minute) {
			t.Errorf("%s: asked %v, for %v, want %v; rests: %v", what, asks, patience, want, b.rests("a"))
		}
	}
	fails := func(what string, want time.Duration) {
		t.Helper()
		if rest := b.failed("a", now); rest != want {
			t.Errorf("%s: it rests for %v, want %v", what, rest, want)
		}
	}
	begins("at first", first, time.Minute)
	fails("once", 0)
	fails("twice", 0)
	begins("after two failures", first, time.Minute)
	fails("three times", leastRest)
	fails("a query that began before", 0)
	begins("while it rests", first, 0)
	if _, asks := b.begin("b", first, now); !asks || b.rests("b") {
		t.Error("another leaf rests, too")
	}
	for _, rest := range []time.Duration{2, 4, 8, 16, 30, 30} {
		now = b.of["a"].until
		begins("after its rest", first, trialTime)
		begins("another query", first, 0)
		begins("the second step", later, trialTime)
		begins("the last step", last, trialTime)
		fails("in the trial", rest*time.Second)
	}
	now = b.of["a"].until
	begins("the last trial", first, trialTime)
	now = now.Add(search.Steps * trialTime)
	begins("the query that tried it has been given up", first, trialTime)
	if !b.answered("a") || b.answered("a") {
		t.Error("it must have rested, once")
	}
	begins("when it has answered", first, time.Minute)
	fails("anew", 0)
	if b.answered("a") {
		t.Error("it has rested after a single failure")
	}
}

// failing is a leaf that fails as the function with returns, and counts the questions.
type failing struct {
	near
	with  func(a *search.Asked) error
	asked int
}

func (f *failing) Ask(ctx context.Context, a *search.Asked) (*search.Answer, error) {
	f.asked++
	if err := f.with(a); err != nil {
		return nil, err
	}
	return f.near.Ask(ctx, a)
}

// withFailing returns a root with two leaves, of which the second is failing. Its log is written to log.
func withFailing(t *testing.T, s *store, log *strings.Builder) (*Engine, *failing) {
	s.Publish(querytest.Manual(30)...)
	root, leaves := s.withLeaves(s.Bucket)
	f := &failing{near: near{"leaf 1", leaves[1]}, with: func(*search.Asked) error { return nil }}
	root.Leaves[1], root.Log = f, slog.New(slog.NewTextHandler(log, nil))
	return root, f
}

// TestFailingLeaf searches while one of two leaves fails at the first or at the last step. It must not be asked by each
// query; answers, notes, the log and Resting must say that its pages are missing. When it works again, nothing is missing.
func TestFailingLeaf(t *testing.T) {
	for name, fails := range map[string]func(a *search.Asked) bool{
		"first step": func(*search.Asked) bool { return true },
		"last step":  func(a *search.Asked) bool { return a.Totals != nil },
	} {
		t.Run(name, func(t *testing.T) {
			s, log := newStore(t, 7), new(strings.Builder)
			root, f := withFailing(t, s, log)
			noted := 0
			ctx := message.Listen(t.Context(), message.Listener{Noted: func(what string) {
				if what == vitals.LeafLeftOut {
					noted++
				}
			}})
			q := Query{Query: search.Query{Text: "manual", Size: 30}}
			ask := func() (found Result, asked int) {
				t.Helper()
				f.asked = 0
				found, err := root.Search(ctx, q)
				s.Check(err)
				return found, f.asked
			}
			whole, steps := ask()
			if whole.Partial || noted > 0 || steps != 2 {
				t.Fatalf("%d questions, %d notes", steps, noted)
			}
			f.with = func(a *search.Asked) error {
				if fails(a) {
					return context.DeadlineExceeded
				}
				return nil
			}
			for i := range mostFailed + 2 {
				found, asked := ask()
				if !found.Partial || found.Total == 0 || found.Total >= whole.Total || noted != i+1 || len(found.Notes) != 1 || (asked > 0) != (i < mostFailed) {
					t.Errorf("query %d: %d found, %d questions, %d notes, %q", i, found.Total, asked, noted, found.Notes)
				}
			}
			if resting := root.Resting(); !slices.Equal(resting, []string{"leaf 1"}) {
				t.Errorf("resting: %v", resting)
			}
			if left, rests := strings.Count(log.String(), "left out of an answer"), strings.Count(log.String(), "not asked for a while"); left != mostFailed || rests != 1 {
				t.Errorf("the log has %d answers and %d rests:\n%s", left, rests, log)
			}
			f.with = func(*search.Asked) error { return nil }
			s.Clock.Advance(leastRest)
			for range 2 {
				found, asked := ask()
				found.Took, whole.Took = 0, 0
				if diff := cmp.Diff(whole, found); diff != "" || asked != steps || len(root.Resting()) > 0 {
					t.Errorf("after its rest: %d questions (-before +now)\n%s", asked, diff)
				}
			}
		})
	}
}

// TestTrialOfNewerLeaf tries a leaf after its rest that has read newer manifests than the root. The same query must ask it
// again when the root has read them, too.
func TestTrialOfNewerLeaf(t *testing.T) {
	s, log := newStore(t, 7), new(strings.Builder)
	root, f := withFailing(t, s, log)
	f.with = func(*search.Asked) error { return context.DeadlineExceeded }
	for range mostFailed {
		answerOf(t, root, search.Query{Text: "manual", Size: 30})
	}
	s.Clock.Advance(leastRest)
	f.asked, f.with = 0, func(a *search.Asked) error {
		if f.asked == 1 {
			return &search.Unreadable{Segment: a.Segments[0], Err: blob.ErrAbsent}
		}
		return nil
	}
	if found := answerOf(t, root, search.Query{Text: "manual", Size: 30}); found.Partial || len(root.Resting()) > 0 {
		t.Errorf("left out: %v", found.LeftOut)
	}
}

// TestNotItsFailure searches while a leaf does not answer for reasons that say nothing of it. It must go on to be asked.
func TestNotItsFailure(t *testing.T) {
	s, log := newStore(t, 7), new(strings.Builder)
	root, f := withFailing(t, s, log)
	var q Query
	q.Text, q.Size = "manual", 10
	for range mostFailed + 1 { // whoever asked has gone
		ctx, cancel := context.WithCancel(t.Context())
		f.with = func(*search.Asked) error {
			cancel()
			return ctx.Err()
		}
		if _, err := root.Search(ctx, q); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	f.with = func(*search.Asked) error { return context.DeadlineExceeded }
	for range mostFailed + 1 { // no time was left
		q.Deadline = time.Now().Add(leastPatience)
		if _, err := root.Search(t.Context(), q); err != nil {
			t.Error(err)
		}
	}
	if len(root.Resting()) > 0 {
		t.Error("the leaf rests")
	}
}

// TestMisunderstoodLeaf searches by a leaf that reads the query in another way. The log must say why its pages are missing.
func TestMisunderstoodLeaf(t *testing.T) {
	s, log := newStore(t, 7), new(strings.Builder)
	root, f := withFailing(t, s, log)
	root.Leaves[1] = misunderstanding{f}
	found := answerOf(t, root, search.Query{Text: "manual", Size: 30})
	if !found.Partial || !slices.ContainsFunc(found.LeftOut, func(l search.LeftOut) bool { return l.Leaf == "leaf 1" }) || !strings.Contains(log.String(), "run the same version") {
		t.Errorf("left out: %v; log:\n%s", found.LeftOut, log)
	}
}

// misunderstanding is a leaf that answers another query than the one that it is asked.
type misunderstanding struct{ *failing }

func (m misunderstanding) Ask(ctx context.Context, a *search.Asked) (*search.Answer, error) {
	other := *a
	other.Query.Text = "another " + a.Query.Text
	return m.failing.Ask(ctx, &other)
}
