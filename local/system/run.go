package system

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Times on a laptop. A tick is the time between two repetitions of something.
const (
	grace        = 5 * time.Second  // maximum time for which a stopping system waits for running functions
	tick         = time.Second      // time between two messages to the function schedule
	sweepTick    = 20 * time.Second // time between two messages to the function sweep
	rankTick     = 15 * time.Minute // time between two messages to the function rank
	watchTick    = time.Minute      // time between two messages to the function watch
	feedbackTick = 15 * time.Second // time between two writes of vital signs to the bucket
	keepTick     = 2 * time.Second  // time between two writes of the counts of requests to the data directory
)

// concurrency holds, for each function, the maximum number of invocations that run at the same
// time. For schedule it is 1: each invocation first counts the leases and then adds more, so that
// two at once could exceed the limit. For fetch it is high, because fetch mostly waits for hosts.
// For index and rank it is 1, because one invocation uses all processors.
var concurrency = map[string]int{
	task.Schedule: 1,
	task.Fetch:    256,
	task.Pack:     4,
	task.Index:    1,
	task.Merge:    1,
	task.Rank:     1,
	task.Sweep:    1,
	task.Watch:    1,
}

// newQueues returns a queue for each function, with the same visibility timeout and maximum number
// of receives as in the cloud. Each queue passes its dead letters to the callback.
func newQueues(chaos *queue.Chaos, dead func(message.DeadLetter)) queue.Set {
	queues := make(queue.Set)
	for _, name := range task.Queues {
		queues[name] = queue.New(queue.Options{
			Name: name, Visibility: task.Visibility(name), MaxReceives: message.MaxReceives, Chaos: chaos, Dead: dead,
		})
	}
	return queues
}

// maxFetches is the maximum number of concurrent invocations of fetch, even if collections
// set more connections.
const maxFetches = 1000

// atOnce returns the maximum number of concurrent invocations of a function: its entry in the
// map concurrency. If fetch runs in this process, its maximum is raised to the number of
// connections that the collections set, up to maxFetches.
func (s *System) atOnce(name string, inForce *settings.Settings) int {
	if name != task.Fetch || s.options.Functions != "" {
		return concurrency[name]
	}
	return max(concurrency[name], min(inForce.Connections(), maxFetches))
}

// Run starts the functions, their queues and the timers that trigger functions. All of these
// stop when ctx ends, or at Close.
func (s *System) Run(ctx context.Context) error { return s.run(ctx) }

// run does the work of Run, but does not start the functions with the given names. Their
// messages wait in the queues.
func (s *System) run(ctx context.Context, without ...string) error {
	inForce, err := s.Settings.Get(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	functions, end, err := s.functions(ctx)
	if err != nil {
		cancel()
		return err
	}
	functions[task.Index] = yield(functions[task.Index], s.queues)
	for _, name := range without {
		delete(functions, name)
	}
	var running sync.WaitGroup
	for name, function := range functions {
		running.Go(func() {
			err := queue.Deliver(ctx, s.queues[name], queue.Mapping{
				Function: function, Concurrency: s.atOnce(name, inForce), BatchSize: task.BatchSize(name),
				Timeout: task.Timeout(name), Grace: grace, Log: s.log(name),
			})
			if err != nil {
				s.Log.Error("function did not stop in time", "function", name, "error", err)
			}
		})
	}
	running.Go(func() { s.every(ctx, sweepTick, s.sweep) })
	running.Go(func() { s.every(ctx, rankTick, s.rank) })
	running.Go(func() { s.every(ctx, watchTick, s.watch) })
	running.Go(func() { s.every(ctx, feedbackTick, s.feedBack) })
	running.Go(func() { s.every(ctx, keepTick, s.keepRequests) })
	if functions[task.Schedule] != nil {
		running.Go(func() { s.every(ctx, tick, s.tick) })
	}
	running.Go(func() { s.every(ctx, healthTick, s.watchRoom) })
	if s.store.server != nil {
		running.Go(func() { s.watchServer(ctx, s.store.server) })
	}
	if s.redis != nil {
		running.Go(func() { s.watchServer(ctx, s.redis) })
	}
	s.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		end()
	})
	return nil
}

// every calls a function now, and then after each period, until ctx ends. It logs the function's
// errors.
func (s *System) every(ctx context.Context, period time.Duration, call func(context.Context) error) {
	every(ctx, period, call, s.Log)
}

// every does the work of System.every with the given log.
func every(ctx context.Context, period time.Duration, call func(context.Context) error, log *slog.Logger) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		if err := call(ctx); err != nil && ctx.Err() == nil {
			log.Error("clock", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// sweep sends a message to the function sweep, to make it run.
func (s *System) sweep(ctx context.Context) error {
	return task.Send(ctx, s.queues, task.Sweep, struct{}{}, 0)
}

// rank sends a message to the function rank, to make it run.
func (s *System) rank(ctx context.Context) error {
	return task.Send(ctx, s.queues, task.Rank, struct{}{}, 0)
}

// watch sends a message to the function watch, to make it run.
func (s *System) watch(ctx context.Context) error {
	return task.Send(ctx, s.queues, task.Watch, struct{}{}, 0)
}

// feedBack stores the vital signs of this process in the bucket.
func (s *System) feedBack(ctx context.Context) error { return s.vitals.Flush(ctx, s.store.bucket) }

// keepRequests stores the counts of requests in the data directory, where the command status
// reads them.
func (s *System) keepRequests(context.Context) error { return s.dir.KeepRequests(s.Requests()) }

// tick sends the function schedule a message for each crawl partition, to make it run.
func (s *System) tick(ctx context.Context) error { return leaseAll(ctx, s.Settings, s.queues) }

// leaseAll sends the function schedule a message for each crawl partition, so that it leases batches of all
// of them.
func leaseAll(ctx context.Context, from *settings.Cache, to task.Sender) error {
	inForce, err := from.Get(ctx)
	if err != nil {
		return err
	}
	for _, crawl := range inForce.Crawl.Partitions() {
		if err := task.Send(ctx, to, task.Schedule, task.Lease{Crawl: crawl}, 0); err != nil {
			return err
		}
	}
	return nil
}
