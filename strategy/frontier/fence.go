package frontier

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ownerFence is a condition of a call: the value that a key of Redis must have for the script to
// change anything. So calls have no effect after another rebuild has begun, or when the frontier
// was built under other settings than the caller's.
type ownerFence struct {
	key, value string
	err        error // error of a call if the key has another value

	// steps means that the value contains a number, which each call raises by 1. If Redis
	// comes back with older contents between two calls, the number in Redis is lower than
	// the caller's. Earlier writes are lost then, and all further calls fail.
	steps bool
	step  uint64        // number of calls that Redis has answered
	age   time.Duration // time for which Redis keeps the key after a call; 0: for ever
}

// arguments returns two values of the fence's key in Redis for the next call of a script:
//
//	value    the key must have this value before the call; "": it must be absent
//	next     the call sets the key to this value; "": it does not change the key
func (f *ownerFence) arguments() (value, next string) {
	if !f.steps {
		return f.value, ""
	}
	return f.after(f.step), f.after(f.step + 1)
}

// after returns the value that the fence's key has in Redis after a number of calls, given by the
// parameter step. It returns "" if the key is then absent: before the first call, if Redis keeps
// the key only for a limited time (see age).
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
