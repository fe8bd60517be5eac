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
	redis    *redis.Client // client without faults, which no process uses
	older    *redis.Client // client of the database with an older copy
	cutUntil time.Time     // time until which no process reaches Redis
	copied   bool          // an older copy exists
	copiedAt time.Time
	idle     []*process
}

// connect returns a client of Redis for a process, whose calls the world releases and lets
// fail.
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

// end kills the whole program: its processes with its queue and its Redis.
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

// keepCopy stores a copy of the present contents of Redis.
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

// goBack replaces the contents of Redis by the copy.
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
