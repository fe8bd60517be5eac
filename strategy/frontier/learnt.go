package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// kept is how many of the latest commits a frontier knows of each storage
// partition, so that neither a look at the bucket that is a little old nor two
// packs that overtake each other make it look as if it were behind.
const kept = 8

// Learning tells the frontier that a commit will bring a book into a storage
// partition: what the base of the commit calls Learnt, and what the commit
// will. It comes after the batches of the book were settled, and again with
// each base on which the commit is tried.
//
// The name of a commit holds for one base alone: next differs when before
// does, though the book be the same. A frontier takes it only if it knows
// before. So whoever knows a name was told of every commit that led to it, and
// had their settlements first: a Redis that lost some of them, having become
// an older copy of itself, does not know the name, and does not learn later
// ones either, until it is rebuilt. Of two packs that tell it different next
// ones for the same base, one wins; the other reads the new base and tells it
// again. A name that was told and never committed matches no manifest, and
// however many there are they do not drive out the base that they were told
// with.
//
// Between Reset and Open it takes the first base as it is, and from then on
// only what follows. If what the rebuild found in the bucket is among it, all
// commits since are, too; if not, Open keeps what was found alone. So a commit
// of which nobody told it while the rebuild was under way (a repair, or one
// told just before Reset and made after the look at the bucket) leaves it
// behind, and it is rebuilt once more. Until Open it keeps all names, however
// many: few come while nothing is leased.
func (f *Frontier) Learning(ctx context.Context, storage layout.Partition, before, next string) error {
	err := f.run(ctx, learnScript, storage.String(), before, next, kept).Err()
	return f.wrap("tell what partition "+storage.String()+" learns to", err)
}

// Knows returns nil if the frontier is open and was told of these commits,
// which manifests call Learnt ("": none yet), else an error that wraps
// ErrNotBuilt and names a storage partition behind whose books it is, or
// Redis's.
func (f *Frontier) Knows(ctx context.Context, learnt map[layout.Partition]string) error {
	var epoch *redis.IntCmd
	var told *redis.MapStringStringCmd
	_, err := f.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		epoch, told = p.Exists(ctx, f.key("epoch")), p.HGetAll(ctx, f.key("learnt"))
		return nil
	})
	if err == nil && epoch.Val() == 0 {
		err = ErrNotBuilt
	}
	for storage, name := range learnt {
		if err == nil && !slices.Contains(strings.Split(told.Val()[storage.String()], " "), name) {
			err = fmt.Errorf("it is behind the books of partition %s: %w", storage, ErrNotBuilt)
		}
	}
	return f.wrap("use", err)
}
