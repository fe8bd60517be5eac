package vitals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

// How long after a feedback the next is due: as long as the process had lived
// until then, between soonest and latest.
const (
	soonest = 15 * time.Second
	latest  = 5 * time.Minute
)

// reading is all that was counted until a moment.
type reading struct {
	at        time.Time
	functions map[string]Activity
	process   Process
}

func (r *Recorder) read() reading {
	now := reading{
		at: r.options.Now().UTC().Truncate(time.Millisecond), functions: make(map[string]Activity), process: readProcess(),
	}
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

// Due reports whether it is time to flush, for a process that is frozen
// between invocations: 15 s after its birth, then less and less often, at last
// every five minutes. So a process that dies without a word takes at most half
// of what it counted with it.
func (r *Recorder) Due() bool {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	return !r.options.Now().Before(r.due)
}

// Flush puts what happened since the last Flush into the bucket, which should
// be none of Recorder.Bucket, as one object; nothing if nothing happened. When
// it fails nothing is lost: the next one puts the same object first.
func (r *Recorder) Flush(ctx context.Context, bucket blob.Bucket) error {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	if err := r.put(ctx, bucket); err != nil {
		return err
	}
	err := r.take()
	return errors.Join(err, r.put(ctx, bucket))
}

// take makes the next feedback, and writes its metrics. Call with flushing held,
// as what follows.
func (r *Recorder) take() error {
	now := r.read()
	r.due = r.options.Now().Add(min(max(now.at.Sub(r.born), soonest), latest))
	f := &Feedback{
		Worker: r.options.Worker, Since: r.flushed.at, At: now.at, Functions: make(map[string]Activity),
		Process: now.process.since(r.flushed.process),
	}
	f.Since = earlier(f.Since, f.At)                // the clock may have been put back
	sums := Day{Requests: countblob.Counts{Put: 1}} // of the feedback itself
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

// put puts the feedback that was taken and is not put yet, if there is one.
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
		case errors.Is(err, blob.ErrExists): // of the same millisecond, or the clock was put back
			r.kept.At = r.kept.At.Add(time.Millisecond)
		default:
			return fmt.Errorf("cannot put feedback %s: %w", key, err)
		}
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
