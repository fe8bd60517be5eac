package frontier

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ownerFence is what a key must hold, else no script changes anything. It keeps out
// whoever does not know yet that the frontier is another's.
type ownerFence struct {
	key, value string
	err        error // of those who are kept out

	// steps has the key count the calls behind the value, so that a Redis that
	// became an older copy of itself between two of them keeps the caller out:
	// what the earlier ones wrote is gone.
	steps bool
	step  uint64        // calls that were answered
	age   time.Duration // how long the key is kept after a call; 0: for ever
}

// arguments are what the key must hold, "" for nothing, and what it holds
// after the call, "" for the same.
func (f *ownerFence) arguments() (value, next string) {
	if !f.steps {
		return f.value, ""
	}
	return f.after(f.step), f.after(f.step + 1)
}

// after is what the key holds after so many calls. One that is not kept for
// ever begins with the first of them.
func (f *ownerFence) after(step uint64) string {
	if step == 0 && f.age > 0 {
		return ""
	}
	return stepOf(f.value, step)
}

func stepOf(name string, step uint64) string { return name + ":" + strconv.FormatUint(step, 10) }

// Under returns the frontier for whoever works under these settings: its calls
// fail with ErrNotBuilt, and change nothing, unless it was built under them.
func (f *Frontier) Under(settings string) *Frontier {
	under := New(f.rdb, f.partition)
	under.fence.Store(&ownerFence{key: f.key("settings"), value: settingsValue(settings), err: ErrNotBuilt})
	return under
}

// run runs a script inside the fences.
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
