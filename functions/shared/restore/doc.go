// Package restore makes the frontiers in Redis what the bucket says that they
// are: the fold of (books, unconsumed spool), and what is due again. The sweep
// does so whenever it finds a reason, the command rebuild at once.
//
//	a frontier is built anew when                         found by
//	Redis came up without it, or lost its key             Built: no fingerprint
//	collections, strategies, takedowns are others         Built: another fingerprint
//	somebody distrusts it: a batch is damaged or closed   Built: no fingerprint
//	a commit was made that it was not told of             Knows: not in what it learnt
//	nothing is left to ask for, and a collection missed   Counts.Missed
//	what another had
//	somebody says so                                      Rebuild
//
// One rebuilds at a time, by a lease, into a new epoch. A frontier that is
// built anew is read from all books; one that is not is only told what has
// become due since, from the outcomes in the books of one storage partition,
// and only when the time has come at which something may be due.
//
// No host is asked sooner because of it: pacer says what is known of whom.
package restore

import (
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Frontiers are those of all crawl partitions. What it does may be done twice,
// by several at once, and be killed at any call.
type Frontiers struct {
	Bucket blob.Bucket
	Redis  redis.UniversalClient
	Now    func() time.Time
	Worker string // who holds the lease of a rebuild
	Log    *slog.Logger
}
