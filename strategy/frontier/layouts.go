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

// layoutsScript notes that a program with a layout is there, and returns the layouts of all programs that are.
//
//	KEYS   layouts
//	ARGV   layout, now, earliest and latest time of a program that counts, in ms
var layoutsScript = redis.NewScript(`
redis.call('ZREM', KEYS[1], ARGV[1]) -- first: a full Redis refuses ZADD in a script that has written nothing yet
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[3], ARGV[4])
`)

// Superseded notes that a program with this layout works on the frontiers in a Redis at the time now, and reports
// whether one with a newer layout does, too. If so, the caller must not rebuild them. Otherwise two versions of the
// program, which reject each other's frontiers (see Check), would rebuild them in turn, and nothing would be leased
// in between.
//
// A time that is more than layoutAge ahead was noted by a wrong clock, and does not count.
func Superseded(ctx context.Context, rdb redis.UniversalClient, now time.Time) (bool, error) {
	present, err := layoutsScript.Run(ctx, rdb, []string{layoutsKey},
		layoutVersion, now.UnixMilli(), now.Add(-layoutAge).UnixMilli(), now.Add(layoutAge).UnixMilli()).StringSlice()
	if err != nil {
		return false, fmt.Errorf("cannot note which versions of the program use the frontiers: %w", err)
	}
	own, _ := strconv.Atoi(layoutVersion)
	for _, version := range present {
		if other, err := strconv.Atoi(version); err == nil && other > own {
			return true, nil
		}
	}
	return false, nil
}
