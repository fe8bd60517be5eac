package vitals

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// put puts a feedback (the report of a process) into the bucket, under the key that the process
// would use.
func put(t *testing.T, bucket blob.Bucket, f Feedback) {
	t.Helper()
	content, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	functionstest.Put(t, bucket, layout.FeedbackKey(f.At, f.Worker), content)
}

func TestReadSince(t *testing.T) {
	bucket := memblob.New()
	at := func(hours time.Duration, worker string) Feedback {
		return Feedback{Worker: worker, Since: start, At: start.Add(hours * time.Hour)}
	}
	all := []Feedback{at(0, "b"), at(1, "-a"), at(1, "b"), at(3, "a"), at(30, "a")} // the last are of other days
	for _, f := range all {
		put(t, bucket, f)
	}
	for name, content := range map[string]string{
		layout.FeedbackKey(start, "broken"):  "{",
		layout.FeedbackKey(start, "other"):   `{"worker":""}`,
		layout.FeedbackKey(start, "endless"): `{"worker":"` + strings.Repeat("x", maxFeedback) + `"}`,
		layout.Feedback + "notes.txt":        "by hand",
	} {
		functionstest.Put(t, bucket, name, []byte(content))
	}
	for since, want := range map[time.Duration][]Feedback{
		-time.Hour: all, time.Hour: all[1:], time.Hour + time.Millisecond: all[3:], 2 * time.Hour: all[3:], 31 * time.Hour: nil,
	} {
		got, err := Read(t.Context(), bucket, start.Add(since))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, since.String(), want, got)
	}
}

func TestUsage(t *testing.T) {
	bucket := countblob.New(memblob.New())
	day := func(at time.Time, worker string, factor int64) {
		put(t, bucket, Feedback{Worker: worker, Since: at, At: at, Day: Day{
			Requests: countblob.Counts{
				Put: factor, Get: 10 * factor, List: 2 * factor, Delete: 5 * factor, Head: 20 * factor, Read: 100 * factor, Written: 200 * factor,
			},
			Invocations: 1000 * factor, GBSeconds: 300 * float64(factor),
		}})
	}
	noon := start.Add(-10 * time.Hour)
	day(noon.Add(-24*time.Hour), "a", 5_000_000) // yesterday
	day(noon, "a", 1)
	day(noon.Add(time.Hour), "a", 100)
	day(noon, "a_1", 1000)
	day(noon.Add(24*time.Hour), "a", 5_000_000) // tomorrow
	before := bucket.Counts()
	got, err := ReadUsage(t.Context(), bucket, noon, meter.USEast1())
	if err != nil {
		t.Fatal(err)
	}
	want := Usage{
		Requests:    countblob.Counts{Put: 1100, Get: 11000, List: 2200, Delete: 5500, Head: 22000, Read: 110000, Written: 220000},
		Invocations: 1_100_000, GBSeconds: 330_000,
		USD: 3300*5e-6 + 33000*0.4e-6 + 1.1*0.2 + 0.33*13.33,
	}
	expect(t, "usage", want, got)
	if made := bucket.Counts().Minus(before); made.List != 1 || made.Get != 2 {
		t.Errorf("requests %+v, want one GET a process", made)
	}
	nothing, err := ReadUsage(t.Context(), memblob.New(), noon, meter.USEast1())
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "usage of nothing", Usage{}, nothing)
}

func TestReadSigns(t *testing.T) {
	clock, bucket := functionstest.NewClock(), memblob.New()
	clock.Advance(-time.Hour)
	old := newRecorder("old", clock)
	work(t, old, clock, "fetch", "x")
	flush(t, old, bucket)
	clock.Advance(start.Sub(clock.Now()))

	a, b, both := newRecorder("a", clock), newRecorder("b", clock), newRecorder("both", clock)
	counted := both.Bucket("fetch", bucket)
	clock.Advance(4 * time.Minute)
	work(t, a, clock, "fetch", "x", "fail", "x") // ends at 4:03
	ask(t, counted, "x")
	flush(t, a, bucket)
	clock.Advance(time.Minute)
	work(t, a, clock, "fetch", "x") // ends at 5:04
	work(t, b, clock, "fetch", "fail")
	work(t, both, clock, "fetch", "x")
	work(t, both, clock, "pack", "later") // ends at 5:07
	both.begin("pack", 1)
	for _, r := range []*Recorder{a, b, both} {
		flush(t, r, bucket)
	}
	clock.Advance(53 * time.Second)
	signs, err := ReadSigns(t.Context(), bucket, clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	want := []Sign{{
		Function: "fetch", Workers: 3, Invocations: 6, Failures: 2, PerMinute: 1, Busy: 6, Requests: asked,
		LastError: &LastError{"no luck", start.Add(5*time.Minute + 5*time.Second)}, Age: 53,
	}, {
		Function: "pack", Workers: 1, Invocations: 1, Postponed: 1, PerMinute: 1.0 / 6, Busy: 1, InFlight: 1, Age: 53,
	}}
	expect(t, "functions", want, signs.Functions)
	expect(t, "over", Seconds(360), signs.Over)
	expect(t, "of fetch", want[0], signs.Function("fetch"))
	expect(t, "of none", Sign{}, signs.Function("query"))
	var names []string
	for _, g := range signs.Processes {
		names = append(names, g.Name)
	}
	if !slices.Equal(names, []string{"fetch", "fetch+pack"}) || signs.Processes[0].Workers != 2 {
		t.Errorf("groups %q, %+v", names, signs.Processes)
	}
}

func TestGroupsOfProcesses(t *testing.T) {
	feedback := func(worker string, second time.Duration, p Process) Feedback {
		at := start.Add(second * time.Second)
		return Feedback{
			Worker: worker, Since: at.Add(-10 * time.Second), At: at, Process: p,
			Functions: map[string]Activity{"pack": {Invocations: 1}},
		}
	}
	signs := Summarize([]Feedback{
		feedback("a", 10, Process{CPUSeconds: 4, Received: 1, Sent: 2, DiskRead: 3, DiskWritten: 4, Resident: 10, Heap: 20, Goroutines: 30, Descriptors: 40}),
		feedback("b", 15, Process{CPUSeconds: 1, Received: 10, Resident: 1, Heap: 2, Goroutines: 3, Descriptors: 4}),
		feedback("a", 20, Process{CPUSeconds: 15, Received: 100, Sent: 200, DiskRead: 300, DiskWritten: 400, Resident: 5, Heap: 6, Goroutines: 7, Descriptors: 8}),
	}, start.Add(40*time.Second))
	want := []Group{{
		Name: "pack", Workers: 2, CPU: 0.5, Age: 20,
		Process: Process{
			CPUSeconds: 20, Received: 111, Sent: 202, DiskRead: 303, DiskWritten: 404,
			Resident: 6, Heap: 8, Goroutines: 10, Descriptors: 12,
		},
	}}
	expect(t, "groups", want, signs.Processes)
	expect(t, "nothing", Signs{}, Summarize(nil, start))
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"worker":"w","since":"2026-11-22T10:00:00Z","at":"2026-11-22T10:00:15Z","functions":{"fetch":{"invocations":1}}}`))
	f.Add([]byte(`{"worker":"w","process":{"cpu_seconds":1e308},"day":{"gb_seconds":-1}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		feedback, err := decode(content)
		if err != nil {
			return
		}
		signs := Summarize([]Feedback{feedback, feedback}, feedback.At)
		if len(signs.Functions) != len(feedback.Functions) || len(signs.Processes) != 1 {
			t.Errorf("signs %+v of %+v", signs, feedback)
		}
	})
}
