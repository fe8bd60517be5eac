package vitals

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

// Window is how far back vital signs are read: over twice the longest time
// between two feedbacks of a process that works.
const Window = 12 * time.Minute

// Signs are what functions and processes did of late.
type Signs struct {
	Over      time.Duration `json:"over_ns"`   // the time that they tell of, Window at most
	Functions []Sign        `json:"functions"` // by name
	Processes []Group       `json:"processes"` // by name
}

// Sign is what one function did, in all processes.
type Sign struct {
	Function    string           `json:"function"`
	Workers     int              `json:"workers"`     // processes that tell of it
	Invocations int64            `json:"invocations"` // that have ended
	Failures    int64            `json:"failures"`    // among them
	Postponed   int64            `json:"postponed"`   // among them: nothing failed, and a message came too early
	PerMinute   float64          `json:"per_minute"`  // invocations
	Busy        time.Duration    `json:"busy_ns"`
	InFlight    int64            `json:"in_flight"` // messages, as of the last feedback of each process
	Requests    countblob.Counts `json:"requests"`
	LastError   *LastError       `json:"last_error,omitempty"` // of that time
	Notes       map[string]int64 `json:"notes,omitempty"`      // what went wrong without failing a message, and how often
	Age         time.Duration    `json:"age_ns"`               // of the newest feedback that tells of it
}

// Group is what the processes that run the same functions took from their
// machines: sums, and at the moment of each process's last feedback.
type Group struct {
	Name    string `json:"name"` // of their functions, joined by "+"
	Workers int    `json:"workers"`
	Process
	CPU float64       `json:"processors"` // in use, on average
	Age time.Duration `json:"age_ns"`
}

// Function returns the sign of a function, the zero Sign if nothing tells of
// it.
func (s Signs) Function(name string) Sign {
	for _, sign := range s.Functions {
		if sign.Function == name {
			return sign
		}
	}
	return Sign{}
}

// ReadSigns returns the vital signs of the last Window.
func ReadSigns(ctx context.Context, bucket blob.Reader, now time.Time) (Signs, error) {
	all, err := Read(ctx, bucket, now.Add(-Window))
	if err != nil {
		return Signs{}, err
	}
	return Summarize(all, now), nil
}

// Summarize returns the vital signs that feedback of the last Window tells.
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
				sign = &Sign{Function: name, Age: Window}
				functions[name] = sign
			}
			sign.add(activity, now.Sub(f.At))
			if !ran[f.Worker][name] {
				ran[f.Worker][name] = true
				sign.Workers++
			}
		}
	}
	signs := Signs{Over: min(over, Window)}
	groups := make(map[string]*Group)
	for worker, last := range newest {
		if ended(last, now) { // its sums count, and not how it was when it was last heard of
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
			groups[name] = &Group{Name: name, Age: Window}
		}
		groups[name].add(took[worker], last.Process, now.Sub(last.At))
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		functions[name].PerMinute = rate(float64(functions[name].Invocations), signs.Over) * 60
		signs.Functions = append(signs.Functions, *functions[name])
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		groups[name].CPU = rate(groups[name].CPUSeconds, signs.Over)
		signs.Processes = append(signs.Processes, *groups[name])
	}
	return signs
}

// ended reports whether a process has been silent for much longer than it was
// before its last feedback.
func ended(last Feedback, now time.Time) bool {
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
	s.Busy += time.Duration(a.BusySeconds * float64(time.Second))
	s.Requests = s.Requests.Plus(a.Requests)
	s.Age = min(s.Age, age)
	if a.LastError != nil && (s.LastError == nil || a.LastError.At.After(s.LastError.At)) {
		s.LastError = a.LastError
	}
}

// add adds a process: what it took, and how it was last.
func (g *Group) add(took, last Process, age time.Duration) {
	took.Resident, took.Heap = last.Resident, last.Heap
	took.Goroutines, took.Descriptors = last.Goroutines, last.Descriptors
	g.Process = g.Process.plus(took)
	g.Workers++
	g.Age = min(g.Age, age)
}

// rate returns a number a second.
func rate(n float64, over time.Duration) float64 {
	if over <= 0 {
		return 0
	}
	return n / over.Seconds()
}
