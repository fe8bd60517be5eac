package system

import (
	"context"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// fetchers is the name of the group of processes that fetch (see lease.Leases.Join).
const fetchers = "fetchers"

// fetcher is a process that fetches, as a member of the group of all that do so with the same Redis. It is
// safe for concurrent use.
type fetcher struct {
	member *lease.Leases
	count  atomic.Int64 // number of members, this process included; 0: not known yet
}

// newFetcher returns a fetcher that has not joined the group yet. The name of the process is one that no
// other process has.
func newFetcher(redis goredis.UniversalClient, process string) *fetcher {
	return &fetcher{member: lease.New(redis, process)}
}

// processes returns the number of processes that fetch from the same Redis, this one included.
func (f *fetcher) processes() int { return int(max(1, f.count.Load())) }

// join renews the membership of this process, and counts the members. It is called every second, so that
// others soon take over the hosts of a process that has left, and its share of requests to an IP address.
func (f *fetcher) join(ctx context.Context) error {
	members, err := f.member.Join(ctx, fetchers, time.Now(), leaseTime)
	if err == nil {
		f.count.Store(int64(members))
	}
	return err
}

// leave ends the membership of this process, so that others need not wait until it ends by itself.
func (f *fetcher) leave(ctx context.Context) error { return f.member.Leave(ctx, fetchers) }
