package frontier

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ownerFence is a condition under which a script may change Redis: a key must have a certain value.
// For example, each rebuild stores a name of its own under a key. When another rebuild begins, it
// replaces this name. From then on, calls of the earlier rebuild have no effect.
type ownerFence struct {
	key, value string
	err        error // error of a call if the key does not have this value

	next string // the call sets the key to this value; "": it does not change the key. Not used if steps is true

	// steps says whether the value is followed by a number: that of the calls so far. Each call adds
	// 1 to the number in Redis, and to the field step. If Redis restarts with older contents, the
	// number in Redis is lower than step. Then Redis has lost writes of earlier calls, and all
	// further calls fail.
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
		return f.value, f.next
	}
	return f.after(f.step), f.after(f.step + 1)
}

// after returns the value that the fence's key must have in Redis after the given number of calls;
// "" means that the key must be absent. A key that Redis keeps only for some time (see age) is created
// by the first call, so it is absent after 0 calls.
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
	under := f.another()
	under.fence.Store(&ownerFence{key: f.key("settings"), value: settingsValue(settings), err: ErrNotBuilt})
	return under
}

// another returns a Frontier of the same partition without conditions.
func (f *Frontier) another() *Frontier {
	return &Frontier{rdb: f.rdb, partition: f.partition, bucket: f.bucket, cache: f.cache, runs: f.runs}
}

// run runs a script. The script first checks the conditions f.fence and f.kept; a nil condition is
// met. If a condition is not met, the script changes nothing, and the reply has the condition's error
// (ownerFence.err).
//
// run is for scripts that need no state of a finished URL, or that change none. All others must be run by
// over.
func (f *Frontier) run(ctx context.Context, s *redis.Script, args ...any) *redis.Cmd {
	return f.call(ctx, s, "", nil, args)
}

// call runs a script under the conditions f.fence, f.kept and another one; a nil condition is met. The parameter
// recalled has states of finished URLs (see over).
func (f *Frontier) call(ctx context.Context, s *redis.Script, recalled string, another *ownerFence, args []any) *redis.Cmd {
	names := []string{f.prefix()}
	args = append(slices.Clip(args), recalled)
	var fences []*ownerFence
	for _, fence := range []*ownerFence{another, f.fence.Load(), f.kept} {
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

// keptAge is the time for which Redis keeps the key of a Frontier that Keeping returned. The key
// counts this Frontier's calls, and each call begins the time anew. Ten minutes are enough, because
// such a Frontier is used only to settle one batch.
const keptAge = 10 * time.Minute

// Keeping returns a Frontier for a caller that must know whether Redis has kept all its
// writes. The caller makes one call after the other, and calls Kept at the end. If Redis
// comes back with older contents and without the writes of an earlier call, further
// calls fail with ErrNotBuilt and change nothing.
func (f *Frontier) Keeping() *Frontier {
	name := rand.Text()
	keeping := f.another()
	keeping.fence.Store(f.fence.Load())
	keeping.kept = &ownerFence{key: f.key("kept:" + name), value: name, err: ErrNotBuilt, steps: true, age: keptAge}
	return keeping
}

// Kept returns nil if Redis still has all writes that were made through f. Otherwise the
// error wraps ErrNotBuilt, or comes from Redis. f must be a result of Keeping.
func (f *Frontier) Kept(ctx context.Context) error {
	value, _ := f.kept.arguments()
	found, err := f.rdb.Get(ctx, f.kept.key).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	if err == nil && found != value {
		err = ErrNotBuilt
	}
	return f.wrap("rely on what was written to", err)
}
