package frontier

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Keys that all partitions share.
const (
	openedKey = "frontier:partitions" // set of the crawl partitions whose frontiers were ever opened
	toldKey   = "frontier:told"       // exists after Tell has entered all leases that have not ended
)

// Held is a lease that has not ended. Hold enters it in a Redis that has lost its leases.
type Held struct {
	Version  layout.Version
	Host     string
	Deadline time.Time // end of the lease, rounded down to a millisecond
	URLs     []string  // URLs of the batch; nil for a lease that Hold has entered
}

// Hold adds leases to the frontier if Redis has lost them. A lease that the frontier still has stays
// as it is. No URL of a host is leased until the leases that Hold has added for the host are settled
// or expire. Hold may be called before Open.
func (f *Frontier) Hold(ctx context.Context, batches []Held) error {
	for part := range slices.Chunk(batches, chunk) {
		args := make([]any, 0, 3*len(part))
		for _, b := range part {
			args = append(args, b.Version.String(), b.Host, b.Deadline.UnixMilli())
		}
		if err := f.run(ctx, holdScript, args...).Err(); err != nil {
			return f.failed("hold batches of", err)
		}
	}
	return nil
}

// Held returns the leases that have not ended.
func (f *Frontier) Held(ctx context.Context) ([]Held, error) {
	leases, err := f.rdb.ZRangeWithScores(ctx, f.key("leases"), 0, -1).Result()
	if err != nil {
		return nil, f.failed("read leases of", err)
	}
	var held []Held
	for _, l := range leases {
		member, _ := l.Member.(string)
		b := Held{Deadline: time.UnixMilli(int64(l.Score))}
		if b.Version, err = layout.ParseVersion(member); err != nil {
			return nil, f.failed("read leases of", err)
		}
		items, err := f.rdb.LRange(ctx, f.key("lease:"+member), 0, -1).Result()
		if err != nil {
			return nil, f.failed("read leases of", err)
		}
		if len(items) == 0 {
			continue // it has ended meanwhile
		}
		b.Host = items[0]
		for _, item := range items[1:] {
			entry, _, err := parseElement(item, b.Host)
			if err != nil {
				return nil, f.failed("read leases of", err)
			}
			b.URLs = append(b.URLs, entry.URL)
		}
		held = append(held, b)
	}
	return held, nil
}

// Partitions returns the crawl partitions whose frontiers were ever opened in this
// Redis.
func Partitions(ctx context.Context, rdb redis.UniversalClient) ([]int, error) {
	members, err := rdb.SMembers(ctx, openedKey).Result()
	var all []int
	for _, member := range members {
		n, errNumber := strconv.Atoi(member)
		if err == nil {
			err = errNumber
		}
		all = append(all, n)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot tell which frontiers were opened: %w", err)
	}
	slices.Sort(all)
	return all, nil
}

// Pace says whether Redis has a record of every lease that has not ended, and whether these records
// come from Lease or from Tell. While records may be missing, a host could be leased although an
// earlier batch of it is still being fetched. Then the host could get requests too soon after one
// another.
type Pace int

// The values of Pace.
const (
	Unknown Pace = iota // Redis is new or was lost: records of leases that have not ended may be missing
	Told                // no record is missing: Tell has entered all leases; Redis has not given any lease yet
	Kept                // no record is missing: Redis has given leases, and has not lost its data since then
)

// PaceOf returns Kept if this Redis has given leases itself. Otherwise it returns Told if Tell has
// entered all leases, and Unknown if leases may be missing.
func PaceOf(ctx context.Context, rdb redis.UniversalClient) (Pace, error) {
	var told, given *redis.IntCmd
	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		told, given = p.Exists(ctx, toldKey), p.Exists(ctx, tokens)
		return nil
	})
	switch {
	case err != nil:
		return Unknown, fmt.Errorf("cannot tell what redis knows: %w", err)
	case given.Val() > 0:
		return Kept, nil
	case told.Val() > 0:
		return Told, nil
	}
	return Unknown, nil
}

// Tell fills an empty Redis with all leases that have not ended, and then records there that no lease
// is missing. The caller passes these leases, by crawl partition. While Tell runs, no other process
// may send batches to the function fetch: Redis would lack their leases.
func Tell(ctx context.Context, rdb redis.UniversalClient, out map[int][]Held) error {
	for crawl, batches := range out {
		if err := New(rdb, crawl).Hold(ctx, batches); err != nil {
			return err
		}
	}
	if err := rdb.Set(ctx, toldKey, 1, 0).Err(); err != nil {
		return fmt.Errorf("cannot tell redis what is out: %w", err)
	}
	return nil
}
