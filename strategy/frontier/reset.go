package frontier

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// generationBytes is the number of characters in the name of a generation of queues. The name is random, so that
// no two generations have the same.
const generationBytes = 10

// Reset begins a rebuild. It empties the frontier, except for the leases, the failures of
// hosts, and the times before which hosts get no request. A host with a lease is leased
// again only after the lease is settled or has expired. One short script does this, whatever
// the size of the frontier. Then Reset deletes the former queues, in many small steps (see clear).
//
// Open ends the rebuild. All calls of the rebuild must be made with the same Frontier, one after the
// other, or with one that goes on with the rebuild (see Resume). They fail with ErrReset and change
// nothing once another rebuild has begun, Distrust was called, or Redis has lost what an earlier call
// wrote.
func (f *Frontier) Reset(ctx context.Context) error {
	name := rebuildName()
	err := New(f.rdb, f.partition).run(ctx, resetScript, stepOf(name, 0), rand.Text()[:generationBytes]).Err()
	if err == nil {
		f.fence.Store(&ownerFence{key: f.key("rebuild"), value: name, err: ErrReset, steps: true})
		err = f.clear(ctx)
	}
	return f.wrap("reset", err)
}

// Step returns a text that says how far a rebuild has come which Reset or Resume began: the name of the rebuild,
// and the number of its calls so far. Each call of the rebuild changes it. It is "" if f does not rebuild.
func (f *Frontier) Step() string {
	if fence := f.fence.Load(); fence != nil && fence.steps {
		return fence.after(fence.step)
	}
	return ""
}

// Resume goes on with a rebuild that another Frontier began, and whose process has probably died. The parameter
// step is the last known result of the other Frontier's method Step. Later calls of the other Frontier fail with
// ErrReset. Resume returns false if the rebuild cannot go on: because it has ended, another rebuild has begun,
// Distrust was called, Redis has lost calls that were made before step, the other process is still at work, or it was
// of a version of the program with another layout.
func (f *Frontier) Resume(ctx context.Context, step string) (bool, error) {
	held, err := f.rdb.Get(ctx, f.key("rebuild")).Result()
	open := int64(0)
	if err == nil {
		open, err = f.rdb.Exists(ctx, f.key("epoch")).Result()
	}
	if err == nil && (open > 0 || !reaches(held, step)) || errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err == nil {
		taker, name := New(f.rdb, f.partition), rebuildName()
		taker.fence.Store(&ownerFence{key: f.key("rebuild"), value: held, err: ErrReset})
		if err = taker.run(ctx, takeScript, stepOf(name, 0)).Err(); errors.Is(err, ErrReset) {
			return false, nil // the other process is alive
		}
		f.fence.Store(&ownerFence{key: f.key("rebuild"), value: name, err: ErrReset, steps: true})
	}
	if err == nil {
		err = f.clear(ctx)
	}
	return err == nil, f.wrap("go on with the rebuild of", err)
}

// rebuildName returns a name for a rebuild by this layout, such as 8-KDHR….
func rebuildName() string { return layoutVersion + "-" + rand.Text() }

// reaches reports whether the present value of the key rebuild is that of the same rebuild as the given step, not
// from before it, and by this layout.
func reaches(held, step string) bool {
	name, calls, _ := strings.Cut(held, ":")
	known, least, _ := strings.Cut(step, ":")
	made, err := strconv.ParseUint(calls, 10, 64)
	want, errWant := strconv.ParseUint(least, 10, 64)
	return name == known && strings.HasPrefix(name, layoutVersion+"-") && err == nil && errWant == nil && made >= want
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
	_, err := f.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Set(ctx, f.key("rebuild"), rand.Text(), 0) // first, so that no rebuild opens the frontier in between
		p.Del(ctx, f.key("settings"))
		return nil
	})
	return f.wrap("distrust", err)
}
