package frontier

import (
	"context"
	"crypto/rand"
)

// Declare records under which settings the frontier is being built. It comes
// before Open.
func (f *Frontier) Declare(ctx context.Context, settings string) error {
	return f.wrap("declare", f.rdb.Set(ctx, f.key("settings"), settings, 0).Err())
}

// Built returns nil if the frontier is open and was built under these
// settings, else an error that wraps ErrNotBuilt, or Redis's.
func (f *Frontier) Built(ctx context.Context, settings string) error {
	found, err := f.rdb.MGet(ctx, f.key("epoch"), f.key("settings")).Result()
	if err == nil && (found[0] == nil || found[1] != settings) {
		err = ErrNotBuilt
	}
	return f.wrap("use", err)
}

// Reset forgets everything, except when hosts may be asked again. A rebuild
// begins with it, and keeps the Frontier until Open. It is one script, however
// much there is to forget.
func (f *Frontier) Reset(ctx context.Context) error {
	name := rand.Text()
	_, err := f.run(ctx, resetScript, name)
	if err == nil {
		f.rebuild.Store(name)
	}
	return f.wrap("reset", err)
}
