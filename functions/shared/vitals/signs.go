// Package vitals keeps the vital signs of processes, which are counts of their activity. It counts
// the invocations of each function, its requests to the object store, and the process's use of its
// machine.
//
// A Recorder counts in each process. It reports in three ways: metrics in Prometheus's form,
// embedded metrics in Lambda's log, and feedback objects in the bucket. From these objects the
// command status and the function sweep read what all processes did.
//
// A feedback object, layout.FeedbackKey(at, worker), is JSON:
//
//	{
//	  "worker": "host/4711-2Q6X",           one process
//	  "since": "2026-11-22T10:00:00Z",      the time "at" of the worker's feedback before this one
//	  "at":    "2026-11-22T10:00:15Z",
//	  "functions": {"fetch": {              what fetch did between these two times
//	    "invocations": 12, "failures": 1, "postponed": 2, "busy_seconds": 3.5,
//	    "in_flight": 4,                     messages being handled at the time "at"
//	    "requests": {"put": 3, "get": 0, "list": 0, "delete": 0, "head": 12, "read": 0, "written": 90000},
//	    "last_error": {"text": "…", "at": "2026-11-22T10:00:09Z"},
//	    "notes": {"a parser panicked": 2}   what went wrong without failing a message
//	  }},
//	  "process": {
//	    "cpu_seconds": 1.25,                between these two times, like the next four
//	    "received_bytes": 0, "sent_bytes": 0, "disk_read_bytes": 0, "disk_written_bytes": 0,
//	    "resident_bytes": 52428800,         at the time "at", like the next three
//	    "heap_bytes": 20000000, "goroutines": 31, "descriptors": 18
//	  },
//	  "day": {                              all that the worker did so far on the day of "at" (UTC)
//	    "requests": {…}, "invocations": 0, "gb_seconds": 0
//	  },
//	  "sum": "…"                            checksum, see layout.Seal
//	}
//
// The values of "day" grow from object to object. So the last object of each worker tells what a
// day has cost, even if an object before it is missing.
//
// History: "postponed" and "notes" exist since 2026-11-22; objects before then count postponed
// invocations as failures. Until 2026-11-23 received_bytes and sent_bytes were those of the network
// namespace. The first objects have no "sum".
package vitals

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// Window is the length of the period, ending now, whose vital signs are read. It is more than twice
// the longest interval between two feedbacks of an active process.
const Window = 12 * time.Minute

// Seconds is a duration in seconds, as the command status writes it in JSON.
type Seconds float64

func secondsOf(d time.Duration) Seconds { return Seconds(d.Seconds()) }

// Duration returns s as a time.Duration, rounded to milliseconds.
func (s Seconds) Duration() time.Duration {
	return time.Duration(float64(s) * float64(time.Second)).Round(time.Millisecond)
}

// Signs say how often each function ran and failed in the last Window, and how much of their
// machines the processes used.
type Signs struct {
	Over      Seconds `json:"over_seconds"` // length of the period of the signs, at most Window
	Functions []Sign  `json:"functions"`    // signs of each function, sorted by name
	Processes []Group `json:"processes"`    // groups of processes, sorted by name
}

// Sign is the activity of one function in all processes during the last Window.
type Sign struct {
	Function    string           `json:"function"`
	Workers     int              `json:"workers"`     // number of processes that ran the function
	Invocations int64            `json:"invocations"` // number of invocations that ended
	Failures    int64            `json:"failures"`    // number of invocations that failed
	Postponed   int64            `json:"postponed"`   // number of invocations that did not fail, but put a message off because it came too early
	PerMinute   float64          `json:"per_minute"`  // number of invocations per minute
	Busy        Seconds          `json:"busy_seconds"`
	InFlight    int64            `json:"in_flight"` // messages being processed, as the last feedback of each process says
	Requests    countblob.Counts `json:"requests"`
	LastError   *LastError       `json:"last_error,omitempty"` // newest error of all processes, or nil
	// number of times that each fault was reported by message.Note, by the text of the fault; such
	// a fault does not make a message fail
	Notes map[string]int64 `json:"notes,omitempty"`
	Age   Seconds          `json:"age_seconds"` // time since the newest feedback about the function
}

// Group is the use of machines by all processes that run the same functions. Each value in the field
// Process is a sum over these processes. For a counter, such as the bytes received, the sum is the
// increase during the last Window. For a momentary value, such as memory, it is the sum of the values
// in the last feedback (report) of each process; processes that have ended count as 0.
type Group struct {
	Name    string `json:"name"`    // names of the group's functions, joined by "+"
	Workers int    `json:"workers"` // number of processes in the group
	Process
	CPU float64 `json:"processors"`  // average number of processors in use
	Age Seconds `json:"age_seconds"` // time since the newest feedback of the group
}

// Function returns the activity of the named function; the zero Sign if no feedback mentions it.
func (s Signs) Function(name string) Sign {
	for _, sign := range s.Functions {
		if sign.Function == name {
			return sign
		}
	}
	return Sign{}
}

// ReadSigns reads the feedback of the last Window, and returns the vital signs (see Summarize).
func ReadSigns(ctx context.Context, bucket blob.Reader, now time.Time) (Signs, error) {
	all, err := Read(ctx, bucket, now.Add(-Window))
	if err != nil {
		return Signs{}, err
	}
	return Summarize(all, now), nil
}

// Summarize makes the vital signs of functions and of groups of processes. It adds up all feedback
// of the last Window; each feedback is the report of one process.
func Summarize(all []Feedback, now time.Time) Signs {
	var over time.Duration
	functions := make(map[string]*Sign)
	newest := make(map[string]Feedback) // by worker
	ran := make(map[string]map[string]bool)
	took := make(map[string]Process)
	for _, f := range all {
		over = max(over, now.Sub(f.Since))
		if last, found := newest[f.Worker]; !found || f.At.After(last.At) {
			newest[f.Worker] = f
		}
		took[f.Worker] = took[f.Worker].plus(f.Process)
		if ran[f.Worker] == nil {
			ran[f.Worker] = make(map[string]bool)
		}
		for name, activity := range f.Functions {
			sign := functions[name]
			if sign == nil {
				sign = &Sign{Function: name, Age: secondsOf(Window)}
				functions[name] = sign
			}
			sign.add(activity, now.Sub(f.At))
			if !ran[f.Worker][name] {
				ran[f.Worker][name] = true
				sign.Workers++
			}
		}
	}
	signs := Signs{Over: secondsOf(min(over, Window))}
	groups := make(map[string]*Group)
	for worker, last := range newest {
		if hasEnded(last, now) { // the process has ended: its sums count, but not its last values
			for name := range last.Functions {
				last.Functions[name] = Activity{}
			}
			last.Process = Process{}
		}
		for name, activity := range last.Functions {
			functions[name].InFlight += activity.InFlight
		}
		name := strings.Join(slices.Sorted(maps.Keys(ran[worker])), "+")
		if groups[name] == nil {
			groups[name] = &Group{Name: name, Age: secondsOf(Window)}
		}
		groups[name].add(took[worker], last.Process, now.Sub(last.At))
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		functions[name].PerMinute = rate(float64(functions[name].Invocations), signs.Over.Duration()) * 60
		signs.Functions = append(signs.Functions, *functions[name])
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		groups[name].CPU = rate(groups[name].CPUSeconds, signs.Over.Duration())
		signs.Processes = append(signs.Processes, *groups[name])
	}
	return signs
}

// hasEnded reports whether a process has probably ended: its last feedback is older than 15 s plus
// twice the interval between its last two feedbacks.
func hasEnded(last Feedback, now time.Time) bool {
	return now.Sub(last.At) > 2*last.At.Sub(last.Since)+soonest
}

func (s *Sign) add(a Activity, age time.Duration) {
	s.Invocations += a.Invocations
	s.Failures += a.Failures
	s.Postponed += a.Postponed
	for what, n := range a.Notes {
		if s.Notes == nil {
			s.Notes = make(map[string]int64)
		}
		s.Notes[what] += n
	}
	s.Busy += Seconds(a.BusySeconds)
	s.Requests = s.Requests.Plus(a.Requests)
	s.Age = min(s.Age, secondsOf(age))
	if a.LastError != nil && (s.LastError == nil || a.LastError.At.After(s.LastError.At)) {
		s.LastError = a.LastError
	}
}

// add adds the figures of one process to those of the group. The parameter took has the sums over
// the last Window, such as processor time. The parameter last is taken from the process's last
// feedback, and has the momentary values, such as memory. The parameter age is the age of that
// feedback.
func (g *Group) add(took, last Process, age time.Duration) {
	took.Resident, took.Heap = last.Resident, last.Heap
	took.Goroutines, took.Descriptors = last.Goroutines, last.Descriptors
	g.Process = g.Process.plus(took)
	g.Workers++
	g.Age = min(g.Age, secondsOf(age))
}

func rate(n float64, over time.Duration) float64 {
	if over <= 0 {
		return 0
	}
	return n / over.Seconds()
}

// Usage is the use of paid services by all processes on a day (UTC). On a private machine, USD
// is what the requests would cost on AWS.
type Usage struct {
	Requests    countblob.Counts `json:"requests"`
	Invocations int64            `json:"invocations"` // number of invocations that Lambda bills
	GBSeconds   float64          `json:"gb_seconds"`  // memory in GB times seconds, as Lambda bills it
	USD         float64          `json:"usd"`         // cost of requests, invocations and GB-seconds in dollars
}

// ReadUsage returns the usage on a day (UTC), up to the last feedback of each process. It takes
// one LIST for every 1,000 feedback objects of that day and one GET for every process.
func ReadUsage(ctx context.Context, bucket blob.Reader, day time.Time, prices meter.Prices) (Usage, error) {
	keys, err := list(ctx, bucket, layout.FeedbackDay(day), "")
	if err != nil {
		return Usage{}, err
	}
	last, err := get(ctx, bucket, newestOf(keys))
	if err != nil {
		return Usage{}, err
	}
	var sum Day
	for _, f := range last {
		sum = sum.plus(f.Day)
	}
	return Usage{
		Requests: sum.Requests, Invocations: sum.Invocations, GBSeconds: sum.GBSeconds,
		USD: prices.Of(sum.Requests, sum.Invocations, sum.GBSeconds),
	}, nil
}

func newestOf(keys []string) []string {
	seen := make(map[string]bool)
	var last []string
	for _, key := range slices.Backward(keys) {
		at, err := layout.ParseFeedbackKey(key)
		worker := strings.TrimPrefix(key, instant(at))
		if err == nil && !seen[worker] {
			seen[worker] = true
			last = append(last, key)
		}
	}
	return last
}
