package simulation

import (
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// runner is one complete set of functions, with a Redis and a queue of its own, as one program
// on a laptop has.
type runner struct {
	world    *world
	queue    queue
	redis    *redis.Client // client for the test itself, whose calls never fail
	older    *redis.Client // client of a second database, for the copy that keepCopy makes
	cutUntil time.Time     // time until which no process reaches Redis
	copied   bool          // true: keepCopy has made a copy, and goBack has not used it yet
	copiedAt time.Time
	idle     []*process
}

// connect returns a client of Redis for a process: each call waits until the world (the
// simulation) lets it happen, and may fail.
func (r *runner) connect(p *process) redis.UniversalClient {
	client := r.redis.WithTimeout(r.redis.Options().ReadTimeout) // shares the connections of r.redis
	client.AddHook(hook{p})
	return client
}

// process returns an idle process of a function, or a new one.
func (r *runner) process(function string) *process {
	for i, p := range r.idle {
		if p.function == function {
			r.idle = slices.Delete(r.idle, i, i+1)
			return p
		}
	}
	return newProcess(r, function)
}

// killAll kills all processes of the runner.
func (r *runner) killAll() {
	r.idle = nil
	for _, p := range r.world.working {
		if p.runner == r {
			r.world.kill(p)
		}
	}
}

// flush empties the Redis of the runner.
func (r *runner) flush() {
	if err := r.redis.FlushDB(r.world.t.Context()).Err(); err != nil {
		r.world.t.Error(err)
	}
}

// end kills the whole program of the runner: its processes end, and its queue and its Redis are
// emptied.
func (r *runner) end() {
	r.killAll()
	for _, p := range r.world.working {
		if p.runner == r {
			p.message.lost = true
		}
	}
	r.queue.waiting = nil
	r.flush()
}

// keepCopy copies the present contents of the runner's Redis to another database, r.older.
func (r *runner) keepCopy() {
	ctx := r.world.t.Context()
	keys, err := r.redis.Keys(ctx, "*").Result()
	if err == nil {
		err = r.older.FlushDB(ctx).Err()
	}
	if err == nil && len(keys) > 0 {
		_, err = r.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, key := range keys {
				pipe.Copy(ctx, key, key, r.older.Options().DB, true)
			}
			return nil
		})
	}
	if err != nil {
		r.world.t.Error(err)
	}
	r.copied, r.copiedAt = true, r.world.clock.Now()
}

// goBack replaces the contents of the runner's Redis by the copy that keepCopy made, as if
// Redis had restarted from an old snapshot.
func (r *runner) goBack() {
	ctx := r.world.t.Context()
	err := r.redis.Do(ctx, "SWAPDB", r.redis.Options().DB, r.older.Options().DB).Err()
	if err == nil {
		err = r.older.FlushDB(ctx).Err()
	}
	if err != nil {
		r.world.t.Error(err)
	}
	r.copied = false
}
