package vitals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

const (
	maxFeedback = 1 << 20 // greatest size of a feedback object in bytes
	maxError    = 500     // greatest size of LastError.Text in bytes; the rest is cut off
)

// Feedback is a report of the activity of one process since its previous report, and of its use of
// paid services so far on the present day (UTC).
type Feedback struct {
	Worker    string              `json:"worker"`
	Since     time.Time           `json:"since"`
	At        time.Time           `json:"at"` // time of writing, to the millisecond
	Functions map[string]Activity `json:"functions"`
	Process   Process             `json:"process"`
	Day       Day                 `json:"day"`
}

// Activity counts the invocations, messages and requests of one function in a period.
type Activity struct {
	Invocations int64            `json:"invocations"`         // number of invocations that ended
	Failures    int64            `json:"failures"`            // number of invocations that failed
	Postponed   int64            `json:"postponed,omitempty"` // number of invocations that did not fail, but put a message off because it came too early
	BusySeconds float64          `json:"busy_seconds"`        // sum of the durations of the ended invocations
	InFlight    int64            `json:"in_flight"`           // messages that were being processed at the end of the period
	Requests    countblob.Counts `json:"requests"`
	LastError   *LastError       `json:"last_error,omitempty"`
	// number of times that each fault was reported by message.Note, by the text of the fault; such
	// a fault does not make a message fail
	Notes map[string]int64 `json:"notes,omitempty"`
}

// LastError is the newest error of a failed invocation.
type LastError struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// Day is the use of paid services by one process on one day (UTC).
type Day struct {
	Requests    countblob.Counts `json:"requests"`    // requests to the object store, those for feedback objects included
	Invocations int64            `json:"invocations"` // number of invocations that Lambda bills
	GBSeconds   float64          `json:"gb_seconds"`  // memory in GB times seconds, as Lambda bills it
}

func (d Day) plus(other Day) Day {
	return Day{d.Requests.Plus(other.Requests), d.Invocations + other.Invocations, d.GBSeconds + other.GBSeconds}
}

// since returns the activity between two readings of a function's counters: the counts of a, minus
// those of the earlier reading.
func (a Activity) since(earlier Activity) Activity {
	a.Invocations -= earlier.Invocations
	a.Failures -= earlier.Failures
	a.Postponed -= earlier.Postponed
	a.BusySeconds -= earlier.BusySeconds
	a.Requests = a.Requests.Minus(earlier.Requests)
	a.Notes = maps.Clone(a.Notes)
	for what, n := range earlier.Notes {
		if a.Notes[what] -= n; a.Notes[what] == 0 {
			delete(a.Notes, what)
		}
	}
	if a.Failures == 0 {
		a.LastError = nil
	}
	return a
}

// idle reports whether the function made no request, ended no invocation, and has none running.
func (a Activity) idle() bool {
	return a.Invocations == 0 && a.InFlight == 0 && a.Requests.Requests() == 0
}

// Check returns an error unless the bytes are an undamaged feedback object (a process's report of
// its activity).
func Check(content []byte) error {
	_, err := decode(content)
	return err
}

func decode(content []byte) (Feedback, error) {
	var f Feedback
	if len(content) > maxFeedback {
		return f, fmt.Errorf("it has more than %d bytes", maxFeedback)
	}
	object, _, err := layout.Unseal(content)
	if err != nil {
		return Feedback{}, err
	}
	if err := json.Unmarshal(object, &f); err != nil {
		return Feedback{}, err
	}
	if f.Worker == "" || f.At.Before(f.Since) {
		return Feedback{}, fmt.Errorf("worker %q from %v to %v is no feedback", f.Worker, f.Since, f.At)
	}
	return f, nil
}

// parallelReads is the number of feedback objects that are read at the same time.
const parallelReads = 16

// Read returns all feedback (reports of the activity of processes) that was written at or after the
// given time, in the order of time. It skips objects that cannot be decoded.
func Read(ctx context.Context, bucket blob.Reader, since time.Time) ([]Feedback, error) {
	keys, err := list(ctx, bucket, layout.Feedback, instant(since))
	if err != nil {
		return nil, err
	}
	return get(ctx, bucket, keys)
}

// list returns those keys of feedback objects that begin with a prefix and come after the key
// startAfter.
func list(ctx context.Context, bucket blob.Reader, prefix, startAfter string) ([]string, error) {
	var keys []string
	for object, err := range bucket.List(ctx, prefix, startAfter) {
		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", prefix, err)
		}
		if _, err := layout.ParseFeedbackKey(object.Key); err == nil && object.Size <= maxFeedback {
			keys = append(keys, object.Key)
		}
	}
	return keys, nil
}

func get(ctx context.Context, bucket blob.Reader, keys []string) ([]Feedback, error) {
	found := make([]*Feedback, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for i, key := range keys {
		group.Go(func() error {
			content, err := bucket.Get(ctx, key, blob.Range{})
			if errors.Is(err, blob.ErrAbsent) { // deleted meanwhile: it was old
				return nil
			}
			if err != nil {
				return fmt.Errorf("cannot read feedback %s: %w", key, err)
			}
			if f, err := decode(content); err == nil {
				found[i] = &f
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var all []Feedback
	for _, f := range found {
		if f != nil {
			all = append(all, *f)
		}
	}
	return all, nil
}

// instant returns the common prefix of the keys of all feedback objects that were written in the
// same millisecond as the given time.
func instant(at time.Time) string {
	return strings.TrimSuffix(layout.FeedbackKey(at, ""), "_.json")
}

// A process puts feedback (reports of its activity) into the bucket. The interval to the next
// feedback is as long as the process has been running, but at least 15 seconds (the constant
// soonest) and at most 5 minutes (the constant latest).
const (
	soonest = 15 * time.Second
	latest  = 5 * time.Minute
)

// reading holds the values that all counters of a Recorder had at one moment.
type reading struct {
	at        time.Time
	functions map[string]Activity
	process   Process
}

func (r *Recorder) read() reading {
	now := reading{
		at: r.options.Now().UTC().Truncate(time.Millisecond), functions: make(map[string]Activity), process: readProcess(),
	}
	now.process.Received, now.process.Sent = r.traffic.received.Load(), r.traffic.sent.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, f := range r.functions {
		now.functions[name] = Activity{
			Invocations: f.invocations, Failures: f.failures, Postponed: f.postponed, BusySeconds: f.busy.Seconds(),
			InFlight: f.inFlight, Requests: f.requests(), LastError: f.lastError, Notes: maps.Clone(f.notes),
		}
	}
	return now
}

// Due reports whether it is time to call Flush, which puts a report of the activity into the
// bucket. The first time comes 15 s after the start of the process, the next ones after intervals
// that grow with the age of the process to five minutes. Due is for a process that Lambda freezes
// between invocations, and that may end without notice.
func (r *Recorder) Due() bool {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	return !r.options.Now().Before(r.due)
}

// Flush puts the activity since the last Flush into the bucket, as one feedback object; it puts
// nothing if there was no activity. The bucket should not be one that Recorder.Bucket returned,
// since its requests would be counted as activity. A failed Flush loses nothing: the next one puts
// the same object first.
func (r *Recorder) Flush(ctx context.Context, bucket blob.Bucket) error {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	if err := r.put(ctx, bucket); err != nil {
		return err
	}
	err := r.take()
	return errors.Join(err, r.put(ctx, bucket))
}

// take makes a feedback, which is a report of the activity since the last feedback, and writes its
// metrics. It stores the feedback in r.kept; the method put will put it into the bucket. If there
// was no activity, take makes no feedback. The caller must hold the mutex r.flushing.
func (r *Recorder) take() error {
	now := r.read()
	r.due = r.options.Now().Add(min(max(now.at.Sub(r.born), soonest), latest))
	f := &Feedback{
		Worker: r.options.Worker, Since: r.flushed.at, At: now.at, Functions: make(map[string]Activity),
		Process: now.process.since(r.flushed.process),
	}
	f.Since = earlierOf(f.Since, f.At)              // the clock may have been put back
	sums := Day{Requests: countblob.Counts{Put: 1}} // the request that puts the feedback itself
	for name, activity := range now.functions {
		if activity = activity.since(r.flushed.functions[name]); activity.idle() {
			continue
		}
		f.Functions[name] = activity
		sums.Requests = sums.Requests.Plus(activity.Requests)
		if r.options.Memory > 0 {
			sums.Invocations += activity.Invocations
			sums.GBSeconds += activity.BusySeconds * float64(r.options.Memory) / 1024
		}
	}
	if len(f.Functions) == 0 {
		return nil
	}
	if day := layout.FeedbackDay(f.At); day != r.dayOf {
		r.dayOf, r.day = day, Day{}
	}
	r.day = r.day.plus(sums)
	f.Day = r.day
	r.flushed, r.kept = now, f
	return r.writeMetrics(f)
}

// put stores the feedback in r.kept (a report of activity) in the bucket, and sets r.kept to nil.
// If r.kept is nil already, put does nothing. The caller must hold the mutex r.flushing.
func (r *Recorder) put(ctx context.Context, bucket blob.Bucket) error {
	for r.kept != nil {
		content, err := json.Marshal(r.kept)
		if err != nil {
			return fmt.Errorf("cannot encode feedback of %s: %w", r.kept.Worker, err)
		}
		key := layout.FeedbackKey(r.kept.At, r.kept.Worker)
		switch err := blob.CreateOnce(ctx, bucket, key, layout.Seal(content)); {
		case err == nil:
			r.kept = nil
		case errors.Is(err, blob.ErrExists): // another feedback of the same millisecond, or the clock was put back
			r.kept.At = r.kept.At.Add(time.Millisecond)
		default:
			return fmt.Errorf("cannot put feedback %s: %w", key, err)
		}
	}
	return nil
}

func earlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
