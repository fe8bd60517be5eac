package frontier

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// Declare records under which settings the frontier is being built. It comes
// before Open.
func (f *Frontier) Declare(ctx context.Context, settings string) error {
	return f.wrap("declare", f.rdb.Set(ctx, f.key("settings"), settings, 0).Err())
}

// Built returns the settings under which the open frontier was built, or
// ErrNotBuilt.
func (f *Frontier) Built(ctx context.Context) (string, error) {
	if _, err := f.Epoch(ctx); err != nil {
		return "", err
	}
	settings, err := f.rdb.Get(ctx, f.key("settings")).Result()
	if errors.Is(err, redis.Nil) {
		err = ErrNotBuilt
	}
	return settings, f.wrap("read settings of", err)
}

// Reset forgets everything, except when hosts may be asked again. A rebuild
// begins with it. It is one script, however much there is to forget.
func (f *Frontier) Reset(ctx context.Context) error {
	_, err := f.run(ctx, resetScript)
	return f.wrap("reset", err)
}
