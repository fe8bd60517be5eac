package system

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/schedule"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Times on a laptop. A tick is the time between two repetitions of something.
const (
	grace        = 5 * time.Second  // maximum time for which a stopping system waits for running functions
	tick         = time.Second      // time between two messages to the function schedule, and between two calls of leases.join
	sweepTick    = 20 * time.Second // time between two messages to the function sweep
	rankTick     = 15 * time.Minute // time between two messages to the function rank
	watchTick    = time.Minute      // time between two messages to the function watch
	feedbackTick = 15 * time.Second // time between two writes of vital signs to the bucket
	keepTick     = 2 * time.Second  // time between two writes of the counts of requests to the data directory
)

// concurrency holds, for each function, the maximum number of invocations that run at the same
// time. For schedule it is 1: each invocation first counts the leases and then adds more, so that
// two at once could exceed the limit. For fetch it is high, because fetch mostly waits for hosts.
// An invocation of index parses pages on all processors, but then builds the segment on about two of
// them; so there is one invocation for every two processors. One invocation of rank uses all processors.
var concurrency = map[string]int{
	task.Schedule: 1,
	task.Fetch:    256,
	task.Pack:     4,
	task.Index:    max(1, runtime.GOMAXPROCS(0)/2),
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
// map concurrency. If fetch runs in this process, its maximum is raised to the number of batches that may
// be leased, up to maxFetches, so that no batch waits in the queue until its deadline has passed.
func (s *System) atOnce(name string, inForce *settings.Settings) int {
	if name != task.Fetch || s.options.Functions != "" {
		return concurrency[name]
	}
	leased := inForce.Connections()
	if leased == 0 {
		leased = schedule.DefaultLimits().Batches * len(inForce.Crawl.Partitions())
	}
	return max(concurrency[name], min(leased, maxFetches))
}

// together returns the maximum number of messages of one invocation of a function. A function in this process
// gets one: a message stays in the queue until its whole invocation ends, so the batches that were fetched
// would count as not fetched yet (see leases.share) while one of 64 hosts is slow.
func (s *System) together(name string) int {
	if s.options.Functions == "" {
		return 1
	}
	return task.BatchSize(name)
}

// Run starts the functions, their queues and the timers that trigger functions. When ctx ends, the
// timers and the functions schedule and fetch stop, so that no further URL is requested. The other
// functions stop at Close.
func (s *System) Run(ctx context.Context) error { return s.run(ctx) }

// run does the work of Run, but does not start the functions with the given names. Their
// messages wait in the queues.
func (s *System) run(ctx context.Context, without ...string) error {
	inForce, err := s.Settings.Get(ctx)
	if err != nil {
		return err
	}
	asking, stopAsking := context.WithCancel(ctx)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	functions, end, err := s.functions(asking)
	if err != nil {
		stopAsking()
		cancel()
		return err
	}
	functions[task.Index] = yield(asking, functions[task.Index], s.queues)
	for _, name := range without {
		delete(functions, name)
	}
	var askers, others sync.WaitGroup // goroutines that end with the context asking, and with ctx
	for name, function := range functions {
		group, ctx := &others, ctx
		if name == task.Schedule || name == task.Fetch {
			group, ctx = &askers, asking
		}
		group.Go(func() {
			err := queue.Deliver(ctx, s.queues[name], queue.Mapping{
				Function: function, Concurrency: s.atOnce(name, inForce), BatchSize: s.together(name),
				Timeout: task.Timeout(name), Grace: grace, Log: s.log(name),
			})
			if err != nil {
				s.Log.Error("function did not stop in time", "function", name, "error", err)
			}
		})
	}
	askers.Go(func() { s.every(asking, sweepTick, s.once("sweep", sweepTick, s.sweepNext)) })
	askers.Go(func() { s.every(asking, rankTick, s.once("rank", rankTick, s.rank)) })
	askers.Go(func() { s.every(asking, watchTick, s.once("watch", watchTick, s.watch)) })
	askers.Go(func() { s.every(asking, feedbackTick, s.feedBack) })
	askers.Go(func() { s.every(asking, keepTick, s.keepRequests) })
	if functions[task.Schedule] != nil { // else the process only imports: it has no leases, and takes no share of the hosts
		askers.Go(func() { s.every(asking, tick, s.tick) })
		askers.Go(func() { s.every(asking, tick, s.leases.join) })
		others.Go(func() { s.every(ctx, renewTick, s.leases.renew) })
	}
	askers.Go(func() { s.every(asking, healthTick, s.watchRoom) })
	if s.store.server != nil {
		askers.Go(func() { s.watchServer(asking, s.store.server) })
	}
	if s.redis != nil {
		askers.Go(func() { s.watchServer(asking, s.redis) })
	}
	s.stop = sync.OnceFunc(func() {
		stopAsking()
		if s.redis == nil { // others may use this Redis, and need not wait for the leases of this process
			askers.Wait()
			s.giveBack(ctx)
		}
		cancel()
		askers.Wait()
		others.Wait()
		end()
	})
	return nil
}

// every calls a function now, and then after each period, until ctx ends. It logs the function's
// errors, but not one that is the same as that of the call before.
func (s *System) every(ctx context.Context, period time.Duration, call func(context.Context) error) {
	every(ctx, period, call, s.Log)
}

// every does the work of System.every with the given log.
func every(ctx context.Context, period time.Duration, call func(context.Context) error, log *slog.Logger) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for last := ""; ; {
		err := call(ctx)
		if err != nil && ctx.Err() == nil && err.Error() != last {
			log.Error("clock", "error", err)
		}
		if last = ""; err != nil {
			last = err.Error()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// once returns a function for the method every. It calls send, unless another process with the same Redis
// has done so in this period: what send makes a function do needs to be done once for all processes. The
// first call sends in any case, because this process may have published something.
func (s *System) once(name string, period time.Duration, send func(context.Context) error) func(context.Context) error {
	ticks, begun := lease.New(s.Redis, s.worker), false
	return func(ctx context.Context) error {
		first, err := ticks.Once(ctx, "clock of "+name, time.Now(), period*9/10) // shorter: it must have ended at the next call
		if err == nil && !first && begun {
			return nil
		}
		begun = true
		return errors.Join(err, send(ctx))
	}
}

// sweepNext calls sweep, unless messages wait for the function sweep: if it sweeps more slowly than its clock ticks,
// they must not become more and more.
func (s *System) sweepNext(ctx context.Context) error {
	if s.queues[task.Sweep].Counts().Visible > 0 {
		return nil
	}
	return s.sweep(ctx)
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
