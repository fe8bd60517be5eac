package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// kept is how many names of commits a frontier keeps for each storage partition: those of the latest
// commits. A process takes the frontier for outdated if the name in the manifest that it has read is
// not among them. The frontier keeps more than one name for two reasons. The process may have read a
// manifest that is not the newest. And if two packs announce commits at the same time, only one of
// them will commit, but it is not known which.
const kept = 8

// Learning announces to the frontier that pack is about to commit a book (the outcomes and links of
// some batches) to a storage partition. Before that, pack has settled the batches of the book. A
// commit makes a new manifest from an existing one. The parameter before is the name of the existing
// manifest, and next is the name of the new one (a manifest's name is its field Learnt). If another
// pack commits first, this pack must base its commit on the other pack's manifest, and calls Learning
// again.
//
// The names form a chain: the frontier records a new name only if it has recorded the name before it.
// So a frontier that has recorded a name has also recorded all earlier commits, and has applied the
// outcomes of their batches. If Redis restarts with older contents, the frontier lacks the latest
// names. Then it does not record the names that follow them either, and is rebuilt (see Knows).
//
//	pack A: Learning(n1, a2)    recorded; A commits a2
//	pack B: Learning(n1, b2)    recorded, too; B cannot commit b2, because A was first
//	pack B: Learning(a2, b3)    recorded; B commits b3
//
// A name whose commit fails, such as b2, occurs in no manifest. However many such names the
// frontier records, it also keeps the name on which they are based.
//
// At the beginning of a rebuild (see Reset) the frontier has no names. So it records both names of the
// first call in any case, and a new chain begins. At the end of the rebuild, Open looks whether the
// last commit that the rebuild has read is among the recorded names. If it is, Open keeps these names.
// Otherwise it replaces them by the name of that commit.
//
// A repair commits without a call of Learning. So the frontier lacks the name of its commit, counts as
// outdated, and is rebuilt.
func (f *Frontier) Learning(ctx context.Context, storage layout.Partition, before, next string) error {
	err := f.run(ctx, learnScript, storage.String(), before, next, kept).Err()
	return f.wrap("tell what partition "+storage.String()+" learns to", err)
}

// Knows returns nil if the frontier is open and contains all books. The parameter learnt holds, for
// each storage partition, the name of the last commit that added a book (the field Learnt of the
// partition's manifest), or "" before the first book. If the frontier has not recorded one of these
// names (see Learning), it lacks books of this partition. Then Knows returns an error that wraps
// ErrNotBuilt and names the partition. If the frontier is not open, the error wraps ErrNotBuilt, too.
// Other errors come from Redis.
func (f *Frontier) Knows(ctx context.Context, learnt map[layout.Partition]string) error {
	var epoch *redis.IntCmd
	var told *redis.MapStringStringCmd
	_, err := f.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
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
