package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// kept is the number of commits, the latest ones, whose names a frontier remembers for each storage
// partition. If it were 1, a reader with a slightly old manifest, or two packs at the same time,
// would take the frontier for outdated.
const kept = 8

// Learning announces to the frontier a commit that will add a book to a storage partition. The
// parameter before names the manifest on which the commit is based, and next the manifest that the
// commit makes; a manifest's name is its field Learnt. Pack calls Learning after the batches of the
// book are settled, and again if it must base the commit on a newer manifest.
//
// The names form a chain: the frontier records next only if it has recorded before. So a frontier
// that has recorded a name has recorded all commits before it, and has applied the outcomes of
// their batches. A Redis that came back with older contents lacks the latest names, records no
// later ones, and is rebuilt.
//
//	pack A: Learning(n1, a2)    taken; A commits a2
//	pack B: Learning(n1, b2)    taken, too, but its commit loses against A's
//	pack B: Learning(a2, b3)    taken; B commits b3
//
// A name whose commit fails, such as b2, occurs in no manifest. However many such names the
// frontier records, it still has the name before them.
//
// During a rebuild, between Reset and Open, the frontier has no name at first: it records both
// names of the first call without a test, and then only names that follow from them. Open keeps
// these names if the last commit that the rebuild has read is among them; otherwise it keeps only
// the name of that commit. After a commit without a call of Learning, such as a repair's, the
// frontier lacks books, and is rebuilt once more.
func (f *Frontier) Learning(ctx context.Context, storage layout.Partition, before, next string) error {
	err := f.run(ctx, learnScript, storage.String(), before, next, kept).Err()
	return f.wrap("tell what partition "+storage.String()+" learns to", err)
}

// Knows returns nil if the frontier is open, and has recorded (see Learning) the last commit that
// added a book to each storage partition. The parameter learnt names these commits: it holds the
// field Learnt of each partition's manifest ("" before the first book). Otherwise the error comes
// from Redis, or wraps ErrNotBuilt; it names a storage partition of which the frontier lacks books,
// if there is one.
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
