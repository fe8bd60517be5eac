// Package watch checks a whole running system. It reads the system's bucket, and its Redis where that
// can be reached. It sends alerts to the operator: about work that waits too long, messages that were
// given up, lost manifests, and limits that are nearly reached.
package watch

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// again is the time after which an alert is sent again while its cause lasts.
const again = time.Hour

// Function is the watch function: it checks the system, and sends alerts to the log and to a
// webhook. On AWS it runs outside of the private network, so that it can call webhooks on the
// internet. For the same reason it cannot reach Redis there. The field told lists the alerts that it
// has sent; the list is in memory only.
type Function struct {
	System
	Settings *settings.Cache
	Client   *http.Client
	Log      *slog.Logger

	mu   sync.Mutex           // protects told
	told map[string]time.Time // time of the last notification, by the alert's name
}

// Handle checks the system once for each message (see Run). It ignores what a message says.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.EachTask(ctx, f.Log, event, func(ctx context.Context, _ struct{}) error { return f.Run(ctx) }), nil
}

// Run checks the system and sends alerts: each when its cause begins, and again every hour
// while it lasts. An alert that the webhook did not accept is sent again by the next Run.
func (f *Function) Run(ctx context.Context) error {
	inForce, err := f.Settings.Get(ctx)
	if err != nil {
		return err
	}
	state, err := f.Look(ctx, inForce)
	if err != nil {
		return err
	}
	alerts := vitals.Judge(state)
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	told := make(map[string]time.Time)
	for _, alert := range alerts {
		last, before := f.told[alert.Name]
		if before && state.Now.Sub(last) < again {
			told[alert.Name] = last
			continue
		}
		if err := f.tell(ctx, inForce.Control.Webhook, alert); err != nil {
			errs = append(errs, err)
			continue
		}
		told[alert.Name] = state.Now
	}
	f.told = told // without alerts that are over, so that they are sent immediately when their cause returns
	return errors.Join(errs...)
}

// tell writes an alert to the log, and sends it to the webhook unless the webhook is "".
func (f *Function) tell(ctx context.Context, webhook string, alert vitals.Alert) error {
	f.Log.WarnContext(ctx, "alert", "name", alert.Name, "text", alert.Text, "since", alert.Since)
	if webhook == "" {
		return nil
	}
	return vitals.Notify(ctx, f.Client, webhook, alert)
}

// System gives access to the running system that is to be checked.
type System struct {
	Bucket blob.Reader
	// Redis of the system; nil if it cannot be reached: then the age of batches that wait is
	// unknown
	Redis redis.UniversalClient
	Now   func() time.Time
}

// Look reads the present state of the system, from which vitals.Judge makes alerts. Its requests to
// the object store are one LIST of the dead letters (messages that were given up), two LISTs of the
// feedback (reports of processes), one GET for each feedback object of the last minutes, and those
// for reading the manifests.
func (s System) Look(ctx context.Context, inForce *settings.Settings) (vitals.State, error) {
	now := s.Now()
	state := vitals.State{
		Now: now, Limits: inForce.Control.Limits, Pause: inForce.Control.Paused(now), Waiting: make(map[string]time.Duration),
		Warnings: inForce.Warnings,
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		state.DeadLetters, err = s.deadLetters(ctx)
		return err
	})
	group.Go(func() (err error) {
		state.Signs, err = vitals.ReadSigns(ctx, s.Bucket, now)
		return err
	})
	group.Go(func() (err error) {
		state.Usage, err = vitals.ReadUsage(ctx, s.Bucket, now, inForce.Control.Priced())
		return err
	})
	group.Go(func() error {
		return s.stored(ctx, inForce, &state)
	})
	group.Go(func() (err error) {
		state.OldestSpool, err = s.spooled(ctx, inForce)
		return err
	})
	if err := group.Wait(); err != nil {
		return vitals.State{}, err
	}
	state.Waiting[task.Pack], state.Waiting[task.Index] = state.OldestSpool, state.OldestUnindexed
	return state, nil
}

func (s System) deadLetters(ctx context.Context) (n int, err error) {
	for _, err := range message.DeadLetters(ctx, s.Bucket) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// stored reads the manifests of all partitions, and adds to the state
//
//   - the bytes that they list;
//   - the age of the oldest package that is not indexed; and
//   - the partitions with a lost version of the manifest, or whose newest version cannot be read.
func (s System) stored(ctx context.Context, inForce *settings.Settings, state *vitals.State) error {
	for _, p := range inForce.Partitions() {
		m, err := partition.Read(ctx, s.Bucket, p)
		fault, lost := errors.AsType[*partition.Fault](err)
		switch {
		case lost:
			state.Lost = append(state.Lost, vitals.Lost{Partition: p, Text: fault.Error()})
			continue
		case err != nil:
			return err
		case m.Later() != nil:
			state.Lost = append(state.Lost, vitals.Lost{Partition: p, Text: partition.Later(&m).Error()})
		}
		state.Held += m.Bytes()
		for _, listed := range m.Packages {
			if listed.Indexed {
				continue
			}
			if _, name, err := layout.ParsePackageKey(listed.Key); err == nil {
				state.OldestUnindexed = max(state.OldestUnindexed, s.Now().Sub(name.Created))
			}
		}
	}
	return nil
}

// spooled returns how long the oldest batch has waited for the function pack. It finds the waiting
// batches in the inboxes in Redis (see frontier.Inbox). It returns 0 if none waits, or if Redis
// cannot be reached.
func (s System) spooled(ctx context.Context, inForce *settings.Settings) (oldest time.Duration, err error) {
	if s.Redis == nil {
		return 0, nil
	}
	for _, p := range inForce.Partitions() {
		waiting, err := frontier.NewInbox(s.Redis, p).List(ctx)
		if err != nil {
			return 0, err
		}
		for _, w := range waiting {
			oldest = max(oldest, s.Now().Sub(w.Since))
		}
	}
	return oldest, nil
}
