package simulation

import (
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// runner is a complete set of functions with a Redis and a queue of its own.
type runner struct {
	world    *world
	queue    queue
	redis    *redis.Client // not seen by any process, and without faults
	older    *redis.Client // where a copy of it is kept
	cutUntil time.Time     // no process reaches Redis
	copied   bool          // there is an older copy
	copiedAt time.Time
	idle     []*process
}

// connect returns Redis as a process sees it.
func (r *runner) connect(p *process) redis.UniversalClient {
	client := r.redis.WithTimeout(r.redis.Options().ReadTimeout) // shares the connections
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

// killAll ends all processes.
func (r *runner) killAll() {
	r.idle = nil
	for _, p := range r.world.working {
		if p.runner == r {
			r.world.kill(p)
		}
	}
}

// flush empties Redis.
func (r *runner) flush() {
	if err := r.redis.FlushDB(r.world.t.Context()).Err(); err != nil {
		r.world.t.Error(err)
	}
}

// end kills the whole program: its processes, its queue and its Redis.
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

// keepCopy keeps a copy of Redis as it is now.
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

// goBack puts the copy into the place of Redis.
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
