package frontier

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

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
