package frontier

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Reset forgets everything, except when hosts may be asked again, and which
// batches are out: until they are settled, or their leases end, their hosts are
// asked for nothing else. A rebuild begins with it, and keeps the Frontier until Open: its calls fail with
// ErrReset, and change nothing, once the frontier was reset by another or
// distrusted, or Redis has lost what an earlier one wrote. They are made one
// after the other. It is one script, however much there is to forget.
func (f *Frontier) Reset(ctx context.Context) error {
	name := rand.Text()
	err := New(f.rdb, f.partition).run(ctx, resetScript, stepOf(name, 0)).Err()
	if err == nil {
		f.fence.Store(&ownerFence{key: f.key("rebuild"), value: name, err: ErrReset, steps: true})
	}
	return f.wrap("reset", err)
}

// Open declares the frontier built under these settings, in this epoch: the
// last step of a rebuild, which found in the manifests what each storage
// partition had learnt. If that does not go together with what Learning told
// meanwhile, the frontier looks behind the books. Of several epochs the
// highest stays.
func (f *Frontier) Open(ctx context.Context, epoch uint64, settings string, learnt map[layout.Partition]string) error {
	if epoch == 0 {
		return f.failed("open", errors.New("epochs count from 1"))
	}
	args := []any{epochValue(epoch), settingsValue(settings)}
	for storage, name := range learnt {
		args = append(args, storage.String(), name)
	}
	err := f.rdb.SAdd(ctx, openedKey, f.partition).Err()
	if err == nil {
		err = f.run(ctx, openScript, args...).Err()
	}
	return f.wrap("open", err)
}

// Distrust has the frontier count as not built, and a rebuild that is under way
// fail with ErrReset: something was settled, or read by it, that is no longer
// true. Nothing is leased or settled any more until then.
func (f *Frontier) Distrust(ctx context.Context) error {
	_, err := f.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Del(ctx, f.key("settings"))
		p.Set(ctx, f.key("rebuild"), rand.Text(), 0)
		return nil
	})
	return f.wrap("distrust", err)
}
