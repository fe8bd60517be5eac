package frontier

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Reset begins a rebuild. It deletes the frontier, except the leases, the failures of
// hosts, and the times before which hosts get no request. A host with a lease is leased
// again only after the lease is settled or has expired. Reset runs one script, whatever
// the size of the frontier.
//
// Open ends the rebuild. All calls of the rebuild must be made with the same Frontier, one after the
// other. They fail with ErrReset and change nothing once another rebuild has begun, Distrust was
// called, or Redis has lost what an earlier call wrote.
func (f *Frontier) Reset(ctx context.Context) error {
	name := rand.Text()
	err := New(f.rdb, f.partition).run(ctx, resetScript, stepOf(name, 0)).Err()
	if err == nil {
		f.fence.Store(&ownerFence{key: f.key("rebuild"), value: name, err: ErrReset, steps: true})
	}
	return f.wrap("reset", err)
}

// Open is the last step of a rebuild: from now on the frontier counts as built, under these settings
// and in this epoch. If the frontier is open in this or a higher epoch already, Open does nothing.
//
// For each storage partition, the frontier records the names of the last commits whose books
// (outcomes and links of URLs) it contains. The parameter learnt holds the name of the last commit
// that the rebuild has read in each partition. Meanwhile packs may have recorded names of their
// commits (see Learning). If the name in learnt is among these, Open keeps them all. Otherwise Open
// keeps only the name in learnt. If the partition has a later commit than that one, Knows then
// reports that the frontier lacks books.
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

// Distrust makes the frontier count as not built, and makes a running rebuild fail with
// ErrReset. Call it when the contents of the frontier turn out to be wrong or outdated.
// Nothing is leased or settled until the next rebuild.
func (f *Frontier) Distrust(ctx context.Context) error {
	_, err := f.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Del(ctx, f.key("settings"))
		p.Set(ctx, f.key("rebuild"), rand.Text(), 0)
		return nil
	})
	return f.wrap("distrust", err)
}
