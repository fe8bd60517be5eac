package frontier

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// ErrNotBuilt says that the frontier of a partition must be rebuilt from the bucket and opened in a
// new epoch. There are several possible reasons: Redis has come up empty, or has lost a part of the
// frontier. The frontier was built under other settings, or by another version of the program. Or it
// lacks the outcomes of the latest committed batches.
var ErrNotBuilt = errors.New("frontier is not built")

// ErrReset means that a rebuild must stop: another rebuild has begun, Distrust was called,
// or Redis has lost what this rebuild wrote.
var ErrReset = errors.New("it was reset meanwhile")

// tokens is the Redis key of the last token that was given to a batch. All partitions share it.
const tokens = "frontier:token"

// Frontier is one crawl partition's share of the frontier. It is safe for
// concurrent use, by any number of processes. Errors wrap those of Redis. A call
// that failed may have taken effect; every call may be repeated.
type Frontier struct {
	rdb       redis.UniversalClient
	partition int
	// A script first checks these two conditions in Redis. If one of them is not met, the script
	// changes nothing. A nil condition is always met. Under and Reset set the field fence. Keeping
	// sets the field kept; its condition is that Redis still has all writes of earlier calls.
	fence atomic.Pointer[ownerFence]
	kept  *ownerFence

	bucket blob.Bucket             // the bucket with the runs; may be nil if there are none
	cache  *RunCache               // what was read of runs
	runs   *atomic.Pointer[string] // points to the list of runs as Redis had it at the last call, or to nil: none is known
}

// New returns the frontier of a crawl partition. It sends nothing to Redis.
func New(rdb redis.UniversalClient, partition int) *Frontier {
	return &Frontier{rdb: rdb, partition: partition, cache: new(RunCache), runs: new(atomic.Pointer[string])}
}

// WithRuns lets f read and write runs in a bucket (see Retire), and returns f. A Frontier without a bucket cannot read
// or change the states of URLs once there are runs.
func (f *Frontier) WithRuns(bucket blob.Bucket) *Frontier {
	f.bucket = bucket
	return f
}

// Epoch returns the epoch in which the frontier is open, or ErrNotBuilt.
func (f *Frontier) Epoch(ctx context.Context) (uint64, error) {
	value, err := f.rdb.Get(ctx, f.key("epoch")).Result()
	if errors.Is(err, redis.Nil) {
		err = ErrNotBuilt
	}
	var epoch uint64
	if err == nil {
		epoch, err = parseEpoch(value)
	}
	if err != nil {
		return 0, f.failed("read epoch", err)
	}
	return epoch, nil
}

// prefix returns the beginning of all keys of the partition. The braces put the keys
// into one slot of a Redis cluster.
func (f *Frontier) prefix() string { return "f:{" + strconv.Itoa(f.partition) + "}:" }

func (f *Frontier) key(name string) string { return f.prefix() + name }

// failed adds the operation and the partition to an error. err must not be nil.
func (f *Frontier) failed(operation string, err error) error {
	return fmt.Errorf("cannot %s frontier of crawl partition %d: %w", operation, f.partition, err)
}

// wrap adds the operation and the partition to an error. For a nil error it returns nil.
func (f *Frontier) wrap(operation string, err error) error {
	if err == nil {
		return nil
	}
	return f.failed(operation, err)
}
