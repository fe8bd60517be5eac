package system

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/functions/watch"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// maxLetters is the maximum number of dead letters in a Health.
const maxLetters = 20

// Health holds the alerts, vital signs and dead letters of a system.
type Health struct {
	Alerts []vitals.Alert `json:"alerts"`
	Pause  *control.Pause `json:"pause,omitempty"`
	Limits control.Limits `json:"limits,omitzero"`
	Today  vitals.Usage   `json:"today"`
	Signs  vitals.Signs   `json:"signs"`
	// one sentence for each frontier that must be rebuilt, with the reason
	Unsound     []string     `json:"unsound,omitempty"`
	DeadLetters []DeadLetter `json:"dead_letters,omitempty"` // the first dead letters, at most maxLetters
	// age in seconds of the oldest work that waits for a function, by the name of the function
	Waiting map[string]float64 `json:"waiting_seconds,omitempty"`
}

// DeadLetter is a dead letter, a message that was given up, with its key in the bucket.
type DeadLetter struct {
	Key string `json:"key"`
	message.DeadLetter
}

// Report is the output of the command status in JSON.
type Report struct {
	Status
	Health Health `json:"health"`
}

// ReadHealth reads the health of the system of the attached bucket.
func (a *Attached) ReadHealth(ctx context.Context) (Health, error) {
	inForce, err := a.Settings.Get(ctx)
	if err != nil {
		return Health{}, err
	}
	state, err := watch.System{Bucket: a.Bucket, Redis: a.Redis, Now: time.Now}.Look(ctx, inForce)
	if err != nil {
		return Health{}, err
	}
	health := Health{
		Alerts: vitals.Judge(state), Pause: state.Pause, Limits: state.Limits, Today: state.Usage, Signs: state.Signs,
		Waiting: make(map[string]float64),
	}
	for function, waited := range state.Waiting {
		if waited > 0 {
			health.Waiting[function] = waited.Seconds()
		}
	}
	if health.Unsound, err = a.unsound(ctx, inForce); err != nil {
		return health, err
	}
	health.DeadLetters, err = deadLetters(ctx, a.Bucket)
	return health, err
}

// unsound returns a reason for each frontier of the running system that must be rebuilt;
// none if no system runs.
func (a *Attached) unsound(ctx context.Context, inForce *settings.Settings) (reasons []string, err error) {
	if a.Redis == nil {
		return nil, nil
	}
	for _, crawl := range inForce.Crawl.Partitions() {
		err := frontier.New(a.Redis, crawl).Built(ctx, inForce.Fingerprint())
		if err != nil && !errors.Is(err, frontier.ErrNotBuilt) {
			return nil, err
		}
		if err != nil {
			reasons = append(reasons, err.Error())
		}
	}
	return reasons, nil
}

// deadLetters reads the first maxLetters dead letters. If a dead letter is damaged, its Reason is
// the error of reading it.
func deadLetters(ctx context.Context, bucket blob.Reader) ([]DeadLetter, error) {
	var letters []DeadLetter
	for key, err := range message.DeadLetters(ctx, bucket) {
		if err != nil {
			return nil, err
		}
		if len(letters) == maxLetters {
			break
		}
		content, err := bucket.Get(ctx, key, blob.Range{})
		if errors.Is(err, blob.ErrAbsent) { // sent again meanwhile
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read dead letter %s: %w", key, err)
		}
		letter, err := message.DecodeDeadLetter(content)
		if err != nil {
			letter.Reason = err.Error()
		}
		letters = append(letters, DeadLetter{key, letter})
	}
	return letters, nil
}

// Resend makes the next sweep send dead letters again: those with the given keys, or all if
// no key is given. It returns the number of these dead letters.
func (a *Attached) Resend(ctx context.Context, keys []string) (int, error) {
	if len(keys) == 0 {
		for key, err := range message.DeadLetters(ctx, a.Bucket) {
			if err != nil {
				return 0, err
			}
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if !layout.IsDeadLetter(key) {
			return 0, fmt.Errorf("%q is no dead letter; for their keys: bucketsearch status", key)
		}
		if _, err := a.Bucket.Head(ctx, key); err != nil {
			return 0, fmt.Errorf("cannot send dead letter %s again: %w", key, err)
		}
		if err := blob.CreateOnce(ctx, a.Bucket, layout.ResendKey(key), []byte(layout.Again)); err != nil {
			return 0, fmt.Errorf("cannot send dead letter %s again: %w", key, err)
		}
	}
	return len(keys), nil
}
