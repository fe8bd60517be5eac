package frontier

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// layoutsKey is a sorted set: layout version → the last time, in milliseconds, at which a program with this layout
	// has called Superseded.
	layoutsKey = "frontier:layouts"
	// layoutAge is the time after the last such call until a program counts as gone: three sweeps in the cloud.
	layoutAge = 15 * time.Minute
)

// Superseded notes that a program with this layout works on the frontiers in a Redis at the time now, and reports
// whether one with a newer layout does, too. If so, the caller must not rebuild them. Otherwise two versions of the
// program, which reject each other's frontiers (see Check), would rebuild them in turn, and nothing would be leased
// in between.
func Superseded(ctx context.Context, rdb redis.UniversalClient, now time.Time) (bool, error) {
	alive, err := rdb.ZRangeByScore(ctx, layoutsKey, &redis.ZRangeBy{Min: strconv.FormatInt(now.Add(-layoutAge).UnixMilli(), 10), Max: "+inf"}).Result()
	if err == nil {
		err = rdb.ZAdd(ctx, layoutsKey, redis.Z{Score: float64(now.UnixMilli()), Member: layoutVersion}).Err()
	}
	if err != nil {
		return false, fmt.Errorf("cannot note which versions of the program use the frontiers: %w", err)
	}
	own, _ := strconv.Atoi(layoutVersion)
	for _, version := range alive {
		if other, err := strconv.Atoi(version); err == nil && other > own {
			return true, nil
		}
	}
	return false, nil
}
