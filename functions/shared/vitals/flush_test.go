package vitals

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

func flush(t *testing.T, r *Recorder, bucket blob.Bucket) {
	t.Helper()
	if err := r.Flush(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
}

func TestFlushPutsWhatHappenedSince(t *testing.T) {
	clock, bucket := functionstest.NewClock(), memblob.New()
	r := newRecorder("host/1", clock)
	first, second := r.Bucket("pack", bucket), r.Bucket("pack", bucket)
	flush(t, r, bucket)
	if all := readAll(t, bucket); all != nil {
		t.Fatalf("nothing happened, and it was put: %+v", all)
	}
	ask(t, first, "a")
	ask(t, second, "b")
	work(t, r, clock, "pack", "x", "fail")
	flush(t, r, bucket)
	flush(t, r, bucket)
	clock.Advance(time.Minute)
	work(t, r, clock, "pack", "x")
	work(t, r, clock, "index", "x")
	flush(t, r, bucket)
	both := asked.Plus(asked)
	want := []Feedback{{
		Worker: "host/1", Since: start, At: start.Add(2 * time.Second),
		Functions: map[string]Activity{"pack": {
			Invocations: 2, Failures: 1, BusySeconds: 2, Requests: both, LastError: &LastError{"no luck", start.Add(2 * time.Second)},
		}},
		Day: Day{Requests: both.Plus(countblob.Counts{Put: 1})},
	}, {
		Worker: "host/1", Since: start.Add(2 * time.Second), At: start.Add(64 * time.Second),
		Functions: map[string]Activity{"pack": {Invocations: 1, BusySeconds: 1}, "index": {Invocations: 1, BusySeconds: 1}},
		Day:       Day{Requests: both.Plus(countblob.Counts{Put: 2})},
	}}
	expect(t, "feedback", want, readAll(t, bucket))
	expect(t, "keys", []string{
		"feedback/20261121/220002000_host-1.json", "feedback/20261121/220104000_host-1.json",
	}, functionstest.Keys(t, bucket, layout.Feedback))
}

func TestProcessIsToldOf(t *testing.T) {
	clock, bucket := functionstest.NewClock(), memblob.New()
	r := newRecorder("w", clock)
	before := r.flushed.process
	work(t, r, clock, "pack", "x")
	flush(t, r, bucket)
	all, err := Read(t.Context(), bucket, start)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d feedback objects, %v", len(all), err)
	}
	if got := all[0].Process; got.Goroutines < 1 || got.Heap < 1 || got.CPUSeconds < 0 || got.CPUSeconds > before.CPUSeconds+60 {
		t.Errorf("process %+v", got)
	}
}

// TestFlushSurvivesFaults lets each request to the bucket fail in turn, before or after it has had
// its effect. It checks that no count is lost or stored twice.
func TestFlushSurvivesFaults(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		clock, store := functionstest.NewClock(), memblob.New()
		bucket := faultblob.New(store, decide)
		r := newRecorder("w", clock)
		for range 3 {
			work(t, r, clock, "pack", "x", "fail")
			_ = r.Flush(t.Context(), bucket)
		}
		flush(t, r, store)
		var invocations, failures int64
		var day Day
		for _, f := range readAll(t, store) {
			invocations, failures, day = invocations+f.Functions["pack"].Invocations, failures+f.Functions["pack"].Failures, f.Day
		}
		if invocations != 6 || failures != 3 || day.Requests.Put != 3 {
			t.Errorf("told of %d invocations, %d failures and %d puts, want 6, 3 and 3", invocations, failures, day.Requests.Put)
		}
	})
}

func TestFailedFlushIsMadeUpFor(t *testing.T) {
	clock, store, down := functionstest.NewClock(), memblob.New(), true
	bucket := faultblob.New(store, func(faultblob.Call) faultblob.Fault {
		if down {
			return faultblob.Before
		}
		return faultblob.None
	})
	r := newRecorder("w", clock)
	const want = "cannot put feedback feedback/20261121/220001000_w.json: "
	for range 3 {
		work(t, r, clock, "pack", "x")
		if err := r.Flush(t.Context(), bucket); !errors.Is(err, blob.ErrRetryable) || !strings.HasPrefix(err.Error(), want) {
			t.Fatalf("error %v, want %s…", err, want)
		}
	}
	down = false
	flush(t, r, bucket)
	var told []int64
	for _, f := range readAll(t, store) {
		told = append(told, f.Functions["pack"].Invocations)
	}
	expect(t, "invocations", []int64{1, 2}, told)
}

func TestDaysAreSummedUpByThemselves(t *testing.T) {
	clock, bucket := functionstest.NewClock(), memblob.New() // at 22:00
	r := New(Options{Worker: "w", Now: clock.Now, Memory: 2048})
	counted := r.Bucket("pack", bucket)
	for i := range 4 {
		ask(t, counted, fmt.Sprint(i))
		work(t, r, clock, "pack", "x")
		flush(t, r, bucket)
		clock.Advance(time.Hour)
	}
	var got []Day
	for _, f := range readAll(t, bucket) {
		got = append(got, f.Day)
	}
	once := Day{Requests: asked.Plus(countblob.Counts{Put: 1}), Invocations: 1, GBSeconds: 2}
	expect(t, "days", []Day{once, once.plus(once), once, once.plus(once)}, got)
}

// TestClockIsPutBack checks that several feedbacks in the same millisecond, and feedbacks after the
// clock was put back, are all stored.
func TestClockIsPutBack(t *testing.T) {
	now := start
	r := New(Options{Worker: "w", Now: func() time.Time { return now }})
	bucket := memblob.New()
	once := func() {
		end := r.begin("pack", 1)
		end(nil)
		flush(t, r, bucket)
	}
	for range 3 { // in one millisecond
		once()
	}
	now = now.Add(-time.Hour)
	once()
	var at []time.Time
	for _, f := range readAll(t, bucket) {
		at = append(at, f.At)
		if f.Functions["pack"].Invocations != 1 || f.Functions["pack"].BusySeconds != 0 || f.At.Before(f.Since) {
			t.Errorf("feedback %+v", f)
		}
	}
	expect(t, "times", []time.Time{start.Add(-time.Hour), start, start.Add(time.Millisecond), start.Add(2 * time.Millisecond)}, at)
}

func TestDue(t *testing.T) {
	clock := functionstest.NewClock()
	r := newRecorder("w", clock)
	var due []time.Duration
	for range 3600 {
		clock.Advance(time.Second)
		if r.Due() {
			due = append(due, clock.Now().Sub(start))
			flush(t, r, memblob.New())
		}
	}
	want := []time.Duration{15, 30, 60, 120, 240, 480, 780, 1080, 1380, 1680, 1980, 2280, 2580, 2880, 3180, 3480}
	for i := range want {
		want[i] *= time.Second
	}
	expect(t, "due", want, due)
}

// TestFlushWhileWorking checks that no invocation is lost if Flush is called while the process
// works.
func TestFlushWhileWorking(t *testing.T) {
	clock, bucket := functionstest.NewClock(), memblob.New()
	r := newRecorder("w", clock)
	done := make(chan error)
	go func() {
		watched := r.Watch("pack", handler(clock))
		for range 100 {
			if _, err := watched(context.Background(), eventOf("x")); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 10 {
		flush(t, r, bucket)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	flush(t, r, bucket)
	var invocations int64
	for _, f := range readAll(t, bucket) {
		invocations += f.Functions["pack"].Invocations
	}
	if invocations != 100 {
		t.Errorf("told of %d invocations, want 100", invocations)
	}
}
