package frontier

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// fence is what a key must hold, else no script changes anything. It keeps out
// whoever does not know yet that the frontier is another's.
type fence struct {
	key, value string
	err        error // of those who are kept out

	// steps has the key count the calls behind the value, so that a Redis that
	// became an older copy of itself between two of them keeps the caller out:
	// what the earlier ones wrote is gone.
	steps bool
	step  uint64 // calls that were answered
}

// arguments are what the key must hold, and what it holds after the call, ""
// for the same.
func (f *fence) arguments() (value, next string) {
	if !f.steps {
		return f.value, ""
	}
	return stepOf(f.value, f.step), stepOf(f.value, f.step+1)
}

func stepOf(name string, step uint64) string { return name + ":" + strconv.FormatUint(step, 10) }

// Under returns the frontier for whoever works under these settings: its calls
// fail with ErrNotBuilt, and change nothing, unless it was built under them.
func (f *Frontier) Under(settings string) *Frontier {
	under := New(f.rdb, f.partition)
	under.fence.Store(&fence{key: f.key("settings"), value: settings, err: ErrNotBuilt})
	return under
}

// run runs a script inside the fence.
func (f *Frontier) run(ctx context.Context, s *redis.Script, args ...any) *redis.Cmd {
	keys, fence := []string{f.prefix()}, f.fence.Load()
	if fence == nil {
		return s.Run(ctx, f.rdb, keys, args...)
	}
	value, next := fence.arguments()
	reply := s.Run(ctx, f.rdb, append(keys, fence.key), append(args, value, next)...)
	switch err := reply.Err(); {
	case err == nil || errors.Is(err, redis.Nil):
		fence.step++
	case strings.Contains(err.Error(), "FENCED"):
		reply.SetErr(fence.err)
	}
	return reply
}
