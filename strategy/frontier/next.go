package frontier

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// Next is a host with the time before which no batch sends a request to it.
type Next struct {
	Host string    `json:"host"`
	At   time.Time `json:"at"`
}

// Soonest returns the host with waiting URLs that may be requested first; false if no URL waits. Of
// hosts that may be requested now it returns the one that has been free for the longest time.
func (f *Frontier) Soonest(ctx context.Context) (soonest Next, found bool, err error) {
	sets := make([]*redis.ZSliceCmd, 0, membership.Bands+1)
	_, err = f.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		sets = append(sets, p.ZRangeWithScores(ctx, f.key("hosts"), 0, 0))
		for band := range membership.Bands {
			sets = append(sets, p.ZRangeWithScores(ctx, f.key("hosts:"+strconv.Itoa(band)), 0, 0))
		}
		return nil
	})
	if err != nil {
		return Next{}, false, f.failed("tell which host is next in", err)
	}
	for _, set := range sets {
		for _, first := range set.Val() {
			host, _ := first.Member.(string)
			if at := time.UnixMilli(int64(first.Score)); !found || at.Before(soonest.At) {
				soonest, found = Next{host, at}, true
			}
		}
	}
	return soonest, found, nil
}

// NextRequest returns the time before which no batch sends a request to a host; the zero time if a
// request may be sent at any time. While a batch of the host is being fetched, the result is the time
// that held for the first request of this batch.
func (f *Frontier) NextRequest(ctx context.Context, host string) (time.Time, error) {
	at, err := f.rdb.HGet(ctx, f.key("next"), host).Int64()
	if errors.Is(err, redis.Nil) { // the host has no time of its own: see Shut
		at, err = f.rdb.Get(ctx, f.key("shut")).Int64()
	}
	if errors.Is(err, redis.Nil) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, f.failed("tell when "+host+" is next in", err)
	}
	return time.UnixMilli(at), nil
}
