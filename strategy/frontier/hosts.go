package frontier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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

// Resting is a host that gets no request before a certain time, or that has failed in its last
// answers, or both.
type Resting struct {
	Host     string
	Until    time.Time // before this time no request may be sent; zero if a request is allowed now
	Failures uint16    // number of the last answers in a row that were failures (see Settlement)
}

// Rest sets two values of each given host: the time before which the host gets no request, and its
// number of failures. If Redis already holds a higher value, that value stays. Rest may be called
// before Open.
func (f *Frontier) Rest(ctx context.Context, hosts []Resting) error {
	for part := range slices.Chunk(hosts, chunk) {
		args := make([]any, 0, 3*len(part))
		for _, h := range part {
			args = append(args, h.Host, max(ceilMillis(h.Until), 0), h.Failures)
		}
		if err := f.run(ctx, restScript, args...).Err(); err != nil {
			return f.failed("rest hosts of", err)
		}
	}
	return nil
}

// Shut sets a time before which no host gets a request. It is called after Redis has started empty,
// because the times of the hosts' next requests are lost then. For each host, the time of Shut holds
// until Settle or Rest sets a time for this host. Only the first call of Shut after such a start has an
// effect.
func (f *Frontier) Shut(ctx context.Context, until time.Time) error {
	return f.wrap("shut", f.rdb.SetNX(ctx, f.key("shut"), ceilMillis(until), 0).Err())
}

// Resting returns the hosts that must not get a request yet at the given time, and those whose last
// answers were failures.
func (f *Frontier) Resting(ctx context.Context, now time.Time) ([]Resting, error) {
	hosts := make(map[string]Resting)
	err := f.scan(ctx, "next", func(host string, at int64) bool {
		if until := time.UnixMilli(at); until.After(now) {
			hosts[host] = Resting{Host: host, Until: until}
		}
		return true
	})
	if err == nil {
		err = f.scan(ctx, "failures", func(host string, failures int64) bool {
			hosts[host] = Resting{Host: host, Until: hosts[host].Until, Failures: uint16(failures)}
			return true
		})
	}
	if err != nil {
		return nil, f.failed("read who rests in", err)
	}
	return slices.Collect(maps.Values(hosts)), nil
}

// Failing returns some of the hosts whose last answers were 429, 503 or none, each with the number
// of these answers in a row. The last argument limits the number of hosts.
func (f *Frontier) Failing(ctx context.Context, most int) (map[string]int64, error) {
	found := make(map[string]int64)
	err := f.scan(ctx, "failures", func(host string, failures int64) bool {
		found[host] = failures
		return len(found) < most
	})
	return found, f.wrap("read failing hosts of", err)
}

// scan passes the name and the value of every field of a Redis hash to the given function, until this
// returns false. The values are numbers. The parameter name is the end of the hash's key. scan reads a
// thousand fields at a time.
func (f *Frontier) scan(ctx context.Context, name string, each func(field string, value int64) bool) error {
	for cursor := uint64(0); ; {
		page, next, err := f.rdb.HScan(ctx, f.key(name), cursor, "", 1000).Result()
		if err != nil {
			return err
		}
		for i := 0; i+1 < len(page); i += 2 {
			value, err := strconv.ParseInt(page[i+1], 10, 64)
			if err != nil {
				return fmt.Errorf("%s of host %q: %w", name, page[i], err)
			}
			if !each(page[i], value) {
				return nil
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}
