package schedule

import (
	"context"
	"math"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// horizon says how early a host may be leased: at most this long before the next request to it is
// allowed. The function fetch then waits until the request is allowed.
const horizon = 2 * time.Second

// The constant named always replaces horizon (the longest time for which a host may be leased in
// advance) when no waiting URL may be requested, and all are to be parked: kept pending, but in no
// queue. To park the URLs of a host, schedule must lease the host. It sends the host no request
// then. So it may lease the host even if requests to it are still forbidden for a long time.
const always time.Duration = math.MaxInt64

// request returns the request by which schedule asks the frontier for the next lease. The parameter
// counts has the counts of this frontier. The request says how many new pages each collection with a
// limit still allows. The result more is false if nothing can be leased now: no URL waits, the greatest
// number of batches is leased, this process has its share of them, or no collection allows a further page.
func (f *Function) request(ctx context.Context, counts frontier.Counts, s *settings.Settings) (_ frontier.Request, more bool, err error) {
	r := frontier.Request{Horizon: horizon}
	if counts.Waiting == 0 {
		return r, false, nil
	}
	if full, err := f.full(ctx, s, counts.Batches); err != nil || full {
		return r, false, err
	}
	if enough, err := f.enough(ctx, s); err != nil || enough {
		return r, false, err
	}
	if r.Rooms, err = f.rooms(ctx, s); err != nil {
		return r, false, err
	}
	// held: no waiting URL may be requested now. parked: no waiting URL may ever be requested,
	// unless a limit is raised.
	held, parked := counts.Again == 0, counts.Again == 0
	for _, c := range s.Collections {
		room, limited := r.Rooms[c.Name]
		mayWait := limited && !c.Assets // assets may always be requested
		held, parked = held && mayWait && room == 0, parked && mayWait && room < 0
	}
	if parked {
		r.Horizon = always
	}
	return r, !held, nil
}

// full reports whether the greatest number of batches is leased, so that no further batch may be
// leased now. If a collection has the setting connections, this is the limit for all crawl
// partitions together. Otherwise Limits.Batches is the limit for each crawl partition, or the number of
// batches that would reach Limits.URLs if each had the fewest URLs, if that is less: 66 for 200 URLs. The
// parameter batches is the number of batches that are leased in this crawl partition.
func (f *Function) full(ctx context.Context, s *settings.Settings, batches int64) (bool, error) {
	most := s.Connections()
	if most == 0 {
		limit := f.Limits.Batches
		if f.Limits.URLs > 0 {
			limit = min(limit, max(1, f.Limits.URLs/len(s.Crawl.Partitions())/fewest))
		}
		return batches >= int64(limit), nil
	}
	out := int64(0)
	for _, crawl := range s.Crawl.Partitions() {
		counts, err := frontier.New(f.Redis, crawl).Counts(ctx)
		if err != nil {
			return false, err
		}
		out += counts.Batches
	}
	return out >= int64(most), nil
}

// enough reports whether this process has leased its share of the batches. The hosts with URLs that are
// leased, or that wait, are divided among the processes. For example, of 8 hosts each of 2 processes
// leases 4 at a time, and of 9 hosts 5 at most.
func (f *Function) enough(ctx context.Context, s *settings.Settings) (bool, error) {
	if f.Share == nil {
		return false, nil
	}
	own, processes := f.Share()
	if processes < 2 {
		return false, nil
	}
	batches, hosts, err := frontier.Load(ctx, f.Redis, s.Crawl.Partitions())
	return int64(own*processes) >= batches+hosts, err
}

// rooms returns for each collection with a limit of pages, by its name, how many new pages may
// still be requested: the limit less the stored and the leased pages (those that are being
// fetched). Assets do not count. When the room is 0 or less, it tells what becomes of the
// collection's other URLs. A room of -1 stands for a limit that stored pages alone have reached:
//
//	stored   leased   limit   room
//	    30       20     100     50
//	    80       20     100      0   they wait: if a leased page fails, one of them may be requested
//	   100        0     100     -1   they are parked: pending, but in no queue
func (f *Function) rooms(ctx context.Context, s *settings.Settings) (map[string]int64, error) {
	var names, tallies []string
	var left, out []int64
	for _, c := range s.Collections {
		if c.Pages > 0 {
			names, tallies = append(names, c.Name), append(tallies, s.CollectionTally(c.Name), membership.AssetTally(c.Name))
			left, out = append(left, c.Pages), append(out, 0)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	for _, crawl := range s.Crawl.Partitions() {
		front := frontier.New(f.Redis, crawl)
		leased, err := front.Out(ctx, names) // read before stored: a page that is stored in between counts twice, not never
		if err != nil {
			return nil, err
		}
		stored, err := front.Tallies(ctx, tallies)
		if err != nil {
			return nil, err
		}
		for i := range names {
			left[i], out[i] = left[i]-(stored[2*i]-stored[2*i+1]), out[i]+leased[i]
		}
	}
	rooms := make(map[string]int64, len(names))
	for i, name := range names {
		rooms[name] = -1
		if left[i] > 0 {
			rooms[name] = max(0, left[i]-out[i])
		}
	}
	return rooms, nil
}
