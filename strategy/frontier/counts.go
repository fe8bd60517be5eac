package frontier

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// Counts are the numbers of URLs in each state. A URL that is requested again is
// counted twice: as waiting or leased, and as stored, skipped or failed.
type Counts struct {
	Waiting, Leased, Parked, Stored, Skipped, Failed int64

	Again   int64 // number of waiting URLs that have a final state from an earlier request
	Batches int64 // number of leases that have not ended; each is one batch

	// Missed says that a collection may lack pages until the frontier is rebuilt. It does
	// not say which pages. There are two possible reasons:
	//
	//   - A link of the collection led to a URL that was already in the frontier because of
	//     another collection: the URL waited, was leased or was skipped on behalf of that
	//     one (see Entry.Tally).
	//   - A URL was not put into a queue again, because too many of its outdated records
	//     were still in queues.
	Missed bool
}

// Decided returns the number of URLs that have a final state.
func (c Counts) Decided() int64 { return c.Stored + c.Skipped + c.Failed }

// Miss records that a collection may lack pages until the frontier is rebuilt (see
// Counts.Missed).
func (f *Frontier) Miss(ctx context.Context) error {
	return f.wrap("note what is missed in", f.rdb.HSet(ctx, f.key("counts"), "missed", 1).Err())
}

// Counts returns the numbers of URLs in each state. They are exact, because every script that
// changes the state of a URL also updates the counters in Redis.
func (f *Frontier) Counts(ctx context.Context) (Counts, error) {
	var numbers struct {
		Waiting        int64 `redis:"w"`
		Leased         int64 `redis:"l"`
		Parked         int64 `redis:"p"`
		Stored         int64 `redis:"s"`
		Skipped        int64 `redis:"k"`
		Failed         int64 `redis:"f"`
		WaitingStored  int64 `redis:"Ws"`
		WaitingSkipped int64 `redis:"Wk"`
		WaitingFailed  int64 `redis:"Wf"`
		LeasedStored   int64 `redis:"Ls"`
		LeasedSkipped  int64 `redis:"Lk"`
		LeasedFailed   int64 `redis:"Lf"`
		Missed         int64 `redis:"missed"`
	}
	var counts *redis.MapStringStringCmd
	var batches *redis.IntCmd
	_, err := f.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		counts = p.HGetAll(ctx, f.key("counts"))
		batches = p.ZCard(ctx, f.key("leases"))
		return nil
	})
	if err == nil {
		err = counts.Scan(&numbers)
	}
	if err != nil {
		return Counts{}, f.failed("count", err)
	}
	again := numbers.WaitingStored + numbers.WaitingSkipped + numbers.WaitingFailed
	return Counts{
		Waiting: numbers.Waiting + again,
		Leased:  numbers.Leased + numbers.LeasedStored + numbers.LeasedSkipped + numbers.LeasedFailed,
		Parked:  numbers.Parked,
		Stored:  numbers.Stored,
		Skipped: numbers.Skipped,
		Failed:  numbers.Failed,
		Again:   again,
		Batches: batches.Val(),
		Missed:  numbers.Missed > 0,
	}, nil
}

// Load returns how many batches are leased in the given crawl partitions, and how many hosts have URLs
// that wait and may be leased. A host whose next request is allowed only later counts, too.
func Load(ctx context.Context, rdb redis.UniversalClient, crawl []int) (batches, hosts int64, err error) {
	var leases, listed []*redis.IntCmd
	_, err = rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, partition := range crawl {
			f := New(rdb, partition)
			leases, listed = append(leases, p.ZCard(ctx, f.key("leases"))), append(listed, p.ZCard(ctx, f.key("hosts")))
			for band := range membership.Bands {
				listed = append(listed, p.ZCard(ctx, f.key("hosts:"+strconv.Itoa(band))))
			}
		}
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("cannot count the batches and hosts of the frontiers: %w", err)
	}
	for _, n := range leases {
		batches += n.Val()
	}
	for _, n := range listed {
		hosts += n.Val()
	}
	return batches, hosts, nil
}

// Ended reports whether the crawl has ended: no URL waits or is leased in any of the given crawl
// partitions. A frontier that is not built looks as if it had ended (see Built).
func Ended(ctx context.Context, rdb redis.UniversalClient, crawl []int) (bool, error) {
	for _, partition := range crawl {
		counts, err := New(rdb, partition).Counts(ctx)
		if err != nil || counts.Waiting+counts.Leased > 0 {
			return false, err
		}
	}
	return true, nil
}

// Crowded returns the hosts whose sitemaps are not leased because too many other URLs
// wait (see Request.Waiting).
func (f *Frontier) Crowded(ctx context.Context) ([]string, error) {
	hosts, err := f.rdb.SMembers(ctx, f.key("crowded")).Result()
	return hosts, f.wrap("tell whose sitemaps wait in", err)
}

// Leases returns the versions of the leases that have not ended.
func (f *Frontier) Leases(ctx context.Context) ([]layout.Version, error) {
	members, err := f.rdb.ZRange(ctx, f.key("leases"), 0, -1).Result()
	if err != nil {
		return nil, f.failed("read leases of", err)
	}
	versions := make([]layout.Version, len(members))
	for i, member := range members {
		if versions[i], err = layout.ParseVersion(member); err != nil {
			return nil, f.failed("read leases of", err)
		}
	}
	return versions, nil
}

// bucketsAtOnce is the number of buckets of known URLs that Pending reads at a time: about a thousand URLs.
const bucketsAtOnce = 32

// Pending yields the URLs without a final state: they wait, are leased or are parked.
// They come in no particular order. It reads all known URLs, about a thousand at a time; a
// URL whose state changes meanwhile may be left out or come twice. An error ends the
// sequence.
func (f *Frontier) Pending(ctx context.Context) iter.Seq2[layout.Identity, error] {
	return func(yield func(layout.Identity, error) bool) {
		for states, err := range f.held(ctx) {
			if err != nil {
				yield(layout.Identity{}, f.failed("scan", err))
				return
			}
			for id, state := range states {
				if strings.ContainsRune("wlp", rune(state[0])) && !yield(id, nil) {
					return
				}
			}
		}
	}
}

// held yields the states of all URLs that Redis holds, some at a time. An error ends the sequence.
//
// It reads the buckets in the order of their numbers. When a bucket is divided meanwhile, half of its URLs move to a
// bucket with a higher number, so they may come twice, but are not left out.
func (f *Frontier) held(ctx context.Context) iter.Seq2[map[layout.Identity]string, error] {
	return func(yield func(map[layout.Identity]string, error) bool) {
		for from := 0; ; from += bucketsAtOnce {
			numbers := make([]string, bucketsAtOnce)
			for i := range numbers {
				numbers[i] = strconv.Itoa(from + i)
			}
			buckets, err := f.rdb.HMGet(ctx, f.key("known"), numbers...).Result()
			if err != nil {
				yield(nil, err)
				return
			}
			for i, bucket := range buckets {
				records, found := bucket.(string)
				if !found {
					return // it was the last one
				}
				states, ok := statesIn(records)
				if !ok {
					yield(nil, fmt.Errorf("bucket %s of known URLs is damaged", numbers[i]))
					return
				}
				if !yield(states, nil) {
					return
				}
			}
		}
	}
}
