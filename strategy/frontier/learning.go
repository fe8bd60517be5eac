package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// kept is the number of the latest commits of each storage partition that a frontier
// remembers. With only one, a reader with a slightly old manifest, or two packs at the
// same time, would take the frontier for outdated.
const kept = 8

// Learning announces a commit that will bring a book into a storage partition.
// before is the Learnt of the manifest on which the commit is based, next the
// Learnt of the manifest that it makes. Pack calls it after the batches of the book
// are settled, and again for each base on which it tries the commit.
//
// The names form a chain: next depends on before, and the frontier takes next only
// if it knows before. So a frontier that knows a name was told of every commit
// before it, and holds their settlements. A Redis that came back with older
// contents does not know the latest names, takes no later ones, and is rebuilt.
//
//	pack A: Learning(n1, a2)    taken; A commits a2
//	pack B: Learning(n1, b2)    taken, too, but its commit loses against A's
//	pack B: Learning(a2, b3)    taken; B commits b3
//
// A name that is never committed, such as b2, matches no manifest, and never
// drives out the base with which it was told.
//
// Between Reset and Open the frontier takes the first base unseen, and then only
// what follows from it. If the commits that the rebuild has read are among these
// names, Open keeps all that follow; if not, Open keeps only the former. A commit
// that was never announced while the rebuild ran, such as a repair's, then leaves
// the frontier behind the books, and it is rebuilt once more.
func (f *Frontier) Learning(ctx context.Context, storage layout.Partition, before, next string) error {
	err := f.run(ctx, learnScript, storage.String(), before, next, kept).Err()
	return f.wrap("tell what partition "+storage.String()+" learns to", err)
}

// Knows returns nil if the frontier is open and knows these commits, the Learnt of
// each storage partition's manifest ("" before the first book). Otherwise its error
// wraps ErrNotBuilt and names a storage partition of which the frontier lacks
// books, or is Redis's.
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
