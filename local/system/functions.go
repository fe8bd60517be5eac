package system

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/pack"
	"github.com/bucketsearch/bucketsearch/functions/schedule"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
	"github.com/bucketsearch/bucketsearch/functions/task"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/queue"
)

// functions returns the functions that queues feed, in this process or in
// processes of their own, and what ends them.
func (s *System) functions(ctx context.Context) (map[string]queue.Function, func(), error) {
	if s.options.Functions != "" {
		return s.isolated(ctx)
	}
	worker := fmt.Sprintf("local/%d", os.Getpid())
	schedule := &schedule.Function{
		Settings: s.Settings, Redis: s.Redis, Sender: s.queues, Now: time.Now,
		Limits: schedule.DefaultLimits(), Agent: s.options.Agent, Log: s.Log,
	}
	fetch := &fetch.Function{
		Bucket: s.Bucket, Transport: fetch.Transport(fetch.Options{AllowPrivate: s.options.AllowPrivate}),
		Now: time.Now, Sleep: awake(ctx), Agent: s.options.Agent, Worker: worker, Limits: fetch.DefaultLimits(), Log: s.Log,
	}
	pack := &pack.Function{
		Bucket: s.Bucket, Settings: s.Settings, Redis: s.Redis, Sender: s.queues, Now: time.Now,
		Limits: pack.DefaultLimits(), Worker: worker, Agent: s.options.Agent, Log: s.Log,
	}
	index := &index.Function{Bucket: s.Bucket, Redis: s.Redis, Now: time.Now, Worker: worker, Log: s.Log}
	sweep := &sweep.Function{
		Bucket: s.Bucket, Redis: s.Redis, Sender: s.queues, Now: time.Now,
		Worker: worker, Keep: sweep.DefaultKeep, Log: s.Log,
	}
	return map[string]queue.Function{
		task.Schedule: schedule.Handle,
		task.Fetch:    fetch.Handle,
		task.Pack:     pack.Handle,
		task.Index:    index.Handle,
		task.Sweep:    sweep.Handle,
	}, func() {}, nil
}

// awake sleeps until the system stops: fetch then asks for no more and keeps
// what it has.
func awake(stopping context.Context) func(context.Context, time.Duration) error {
	return func(ctx context.Context, d time.Duration) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(stopping, cancel)()
		return blob.Sleep(ctx, d)
	}
}
