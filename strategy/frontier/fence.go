package frontier

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ownerFence is a key of Redis and the value that it must have for a script to change
// anything. It stops callers that have not noticed that another rebuild or other
// settings own the frontier.
type ownerFence struct {
	key, value string
	err        error // of a call that finds another value

	// steps: the number of calls is part of the value, so that a Redis that has
	// come back with older contents between two calls keeps the caller out, of
	// whose earlier writes some are gone.
	steps bool
	step  uint64        // calls that were answered
	age   time.Duration // how long the key is kept after a call; 0: for ever
}

// arguments returns the value that the key must hold, "" when it must be absent,
// and the value after the call, "" when it stays the same.
func (f *ownerFence) arguments() (value, next string) {
	if !f.steps {
		return f.value, ""
	}
	return f.after(f.step), f.after(f.step + 1)
}

// after returns the value that the fence's key has after step calls. A key that expires
// is absent before the first call.
func (f *ownerFence) after(step uint64) string {
	if step == 0 && f.age > 0 {
		return ""
	}
	return stepOf(f.value, step)
}

func stepOf(name string, step uint64) string { return name + ":" + strconv.FormatUint(step, 10) }

// Under returns a Frontier whose calls fail with ErrNotBuilt, and change nothing,
// unless the frontier was built under these settings.
func (f *Frontier) Under(settings string) *Frontier {
	under := New(f.rdb, f.partition)
	under.fence.Store(&ownerFence{key: f.key("settings"), value: settingsValue(settings), err: ErrNotBuilt})
	return under
}

// run runs a script that checks the fences first.
func (f *Frontier) run(ctx context.Context, s *redis.Script, args ...any) *redis.Cmd {
	names := []string{f.prefix()}
	var fences []*ownerFence
	for _, fence := range []*ownerFence{f.fence.Load(), f.kept} {
		if fence != nil {
			fences, names = append(fences, fence), append(names, fence.key)
			value, next := fence.arguments()
			args = append(args, value, next, int(fence.age.Seconds()))
		}
	}
	reply := s.Run(ctx, f.rdb, names, args...)
	err := reply.Err()
	for i, fence := range fences {
		switch {
		case err == nil || errors.Is(err, redis.Nil):
			fence.step++
		case strings.Contains(err.Error(), "FENCED "+strconv.Itoa(i+1)):
			reply.SetErr(fence.err)
		}
	}
	return reply
}
