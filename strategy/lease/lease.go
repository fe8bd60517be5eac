// Package lease grants leases on names, through Redis, so that two workers seldom
// do the same work. Leases only save work: nothing is wrong when two workers hold
// the same one, or when Redis forgets all.
//
// Each lease is a string, lease:<name> = "<end> <holder>", with the end in
// milliseconds since 1970-01-01 UTC. Whether a lease has ended is decided by the time
// that the caller passes, not by the clock of Redis. Redis deletes the string an hour
// after the end; this only cleans up.
package lease

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Leases grants leases to one holder. It is safe for concurrent use.
type Leases struct {
	rdb    redis.UniversalClient
	holder string
}

// New returns Leases for the holder with this name. No other holder may have the same name.
func New(rdb redis.UniversalClient, holder string) *Leases {
	return &Leases{rdb: rdb, holder: holder}
}

// Lease is the right of one holder to do the named work until a certain time.
type Lease struct {
	Name  string
	Until time.Time // end of the lease, rounded down to a millisecond
}

// retention is the time for which Redis keeps a lease after its end.
const retention = time.Hour

// take takes or renews the lease KEYS[1] for the holder ARGV[1] until ARGV[2]. ARGV[3] is the
// present time. ARGV[4] is 0 to take the lease, and 1 to renew it. ARGV[5] is Redis's expiry in ms.
// The script returns 1, or changes nothing and returns 0:
//
//	the lease is                              result of taking    of renewing
//	held by ARGV[1], even if it has ended     1                   1
//	absent, or held by another and ended      1                   0
//	held by another, and has not ended        0                   0
//
// If the remaining time of a lease is more than twice the requested time (ARGV[2] - ARGV[3]), the
// clock of its holder was wrong. Such a lease counts as ended.
//
// A Redis that has no free memory refuses SET, unless the script has written before. As the sweep, which makes room,
// needs leases, the script first deletes the lease.
var take = redis.NewScript(`
local value = redis.call('GET', KEYS[1])
local till, holder
if value then till, holder = value:match('^(%-?%d+) (.*)$') end
local now, ends = tonumber(ARGV[3]), tonumber(ARGV[2])
local free = not till or tonumber(till) <= now or tonumber(till) > 2 * ends - now
if holder == ARGV[1] or free and ARGV[4] == '0' then
  redis.call('DEL', KEYS[1])
  redis.call('SET', KEYS[1], ARGV[2] .. ' ' .. ARGV[1], 'PX', ARGV[5])
  return 1
end
return 0`)

// release deletes the lease KEYS[1] if ARGV[1] is its holder.
var release = redis.NewScript(`
local value = redis.call('GET', KEYS[1])
if value and value:match('^%-?%d+ (.*)$') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0`)

// Acquire takes the lease on a name. The lease begins at the given time, and ends after the duration
// ttl. Acquire returns false when another holder has the lease.
func (l *Leases) Acquire(ctx context.Context, name string, now time.Time, ttl time.Duration) (Lease, bool, error) {
	return l.take(ctx, "acquire", name, now, ttl, false)
}

// Renew extends a lease: it then ends at now + ttl. Renew returns false when the lease was
// lost: it ended and another holder took it, or Redis forgot it.
func (l *Leases) Renew(ctx context.Context, held Lease, now time.Time, ttl time.Duration) (Lease, bool, error) {
	return l.take(ctx, "renew", held.Name, now, ttl, true)
}

// Release ends a lease. It does nothing when another holder has it by now.
func (l *Leases) Release(ctx context.Context, held Lease) error {
	if err := release.Run(ctx, l.rdb, []string{key(held.Name)}, l.holder).Err(); err != nil {
		return fmt.Errorf("cannot release lease %s: %w", held.Name, err)
	}
	return nil
}

// take runs the Lua script take, which acquires or renews a lease. It renews the lease if the
// parameter held is true. The operation is a verb for the text of errors.
func (l *Leases) take(ctx context.Context, operation, name string, now time.Time, ttl time.Duration, held bool) (Lease, bool, error) {
	if ttl <= 0 {
		return Lease{}, false, fmt.Errorf("cannot %s lease %s: time to live %v is not positive", operation, name, ttl)
	}
	until := now.Add(ttl).UnixMilli()
	took, err := take.Run(ctx, l.rdb, []string{key(name)},
		l.holder, until, now.UnixMilli(), held, (ttl + retention).Milliseconds()).Bool()
	if err != nil {
		return Lease{}, false, fmt.Errorf("cannot %s lease %s: %w", operation, name, err)
	}
	if !took {
		return Lease{}, false, nil
	}
	return Lease{Name: name, Until: time.UnixMilli(until)}, true, nil
}

func key(name string) string { return "lease:" + name }
