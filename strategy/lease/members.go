package lease

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// A group is a sorted set, members:<group>, of the names of its members by the ends of their
// memberships, in milliseconds since 1970-01-01 UTC.
func membersKey(group string) string { return "members:" + group }

// Join makes the holder a member of a group for the duration ttl, or prolongs its membership. It
// returns the number of members at the given time, this one included. So processes that join again
// and again know how many of them are alive: one that is killed counts until its membership ends.
func (l *Leases) Join(ctx context.Context, group string, now time.Time, ttl time.Duration) (members int, err error) {
	var count *redis.IntCmd
	_, err = l.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.ZAdd(ctx, membersKey(group), redis.Z{Score: float64(now.Add(ttl).UnixMilli()), Member: l.holder})
		p.ZRemRangeByScore(ctx, membersKey(group), "-inf", fmt.Sprint(now.UnixMilli()))
		count = p.ZCard(ctx, membersKey(group))
		p.Expire(ctx, membersKey(group), ttl+retention)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("cannot join the group %s: %w", group, err)
	}
	return int(count.Val()), nil
}

// Members returns the number of members of a group at the given time.
func Members(ctx context.Context, rdb redis.UniversalClient, group string, now time.Time) (int, error) {
	n, err := rdb.ZCount(ctx, membersKey(group), fmt.Sprintf("(%d", now.UnixMilli()), "+inf").Result()
	if err != nil {
		return 0, fmt.Errorf("cannot count the group %s: %w", group, err)
	}
	return int(n), nil
}

// Leave ends the holder's membership of a group.
func (l *Leases) Leave(ctx context.Context, group string) error {
	if err := l.rdb.ZRem(ctx, membersKey(group), l.holder).Err(); err != nil {
		return fmt.Errorf("cannot leave the group %s: %w", group, err)
	}
	return nil
}
