package frontier

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// keptAge is how long a frontier remembers a Keeping: much longer than
// settling a batch takes.
const keptAge = 10 * time.Minute

// Keeping returns the frontier for one caller, who makes one call after the
// other and asks Kept in the end. A call fails with ErrNotBuilt, and changes
// nothing, once Redis has lost what an earlier one wrote, having become an
// older copy of itself.
func (f *Frontier) Keeping() *Frontier {
	name := rand.Text()
	keeping := New(f.rdb, f.partition)
	keeping.fence.Store(f.fence.Load())
	keeping.kept = &ownerFence{key: f.key("kept:" + name), value: name, err: ErrNotBuilt, steps: true, age: keptAge}
	return keeping
}

// Kept returns nil if Redis holds all that was written through this frontier,
// which comes from Keeping, else an error that wraps ErrNotBuilt, or Redis's.
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
