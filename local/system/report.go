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

// maxLetters is the number of dead letters that are shown.
const maxLetters = 20

// Health is the health of a system.
type Health struct {
	Alerts      []vitals.Alert     `json:"alerts"`
	Pause       *control.Pause     `json:"pause,omitempty"`
	Limits      control.Limits     `json:"limits,omitzero"`
	Today       vitals.Usage       `json:"today"`
	Signs       vitals.Signs       `json:"signs"`
	Unsound     []string           `json:"unsound,omitempty"`         // frontiers that are to be rebuilt, each with the reason
	DeadLetters []DeadLetter       `json:"dead_letters,omitempty"`    // the first few
	Waiting     map[string]float64 `json:"waiting_seconds,omitempty"` // of the oldest work of a function
}

// DeadLetter is a message that was given up.
type DeadLetter struct {
	Key string `json:"key"`
	message.DeadLetter
}

// Report is the output of status.
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

// unsound says which crawl partitions of the running system need a rebuilt frontier, and
// why.
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

// Resend has the next sweep send dead letters again: those with the keys, or all when there
// are none. It returns their number.
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
