package frontier

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ownerFence is a condition of a call: the value that a key of Redis must have for the
// script to change anything. It stops callers that have not noticed that another rebuild
// has begun or that the frontier was built under other settings.
type ownerFence struct {
	key, value string
	err        error // error of a call that finds another value

	// steps means that each call raises a number in the value. If Redis comes back with
	// older contents between two calls, the number is lower than the caller's, whose
	// further calls fail then, because earlier writes are lost.
	steps bool
	step  uint64        // number of calls that were answered
	age   time.Duration // how long Redis keeps the key after a call; 0: for ever
}

// arguments returns the value that the key must have, "" if it must be absent, and the
// value that the call gives it, "" if it stays the same.
func (f *ownerFence) arguments() (value, next string) {
	if !f.steps {
		return f.value, ""
	}
	return f.after(f.step), f.after(f.step + 1)
}

// after returns the value of the key after the first step calls. A key that expires is
// absent before the first call.
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

// run runs a script, which first checks the fences of the Frontier. If one of them does
// not hold, the script changes nothing, and the reply's error is that of the fence.
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
