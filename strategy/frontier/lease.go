package frontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Request describes the lease that a caller of Frontier.Lease wants.
type Request struct {
	Now      time.Time
	Horizon  time.Duration // a host may be leased up to this long before requests to it are allowed
	Deadline time.Time     // end of the lease
	Max      int           // maximum number of URLs, 1 to 500
	// MaxBytes is the maximum size of all entries together, in bytes: their URLs, names of
	// collections and encoded Last. An entry that is larger by itself is leased alone.
	MaxBytes int
	// Connections is the maximum number of leases of one host at a time. If it is raised, a
	// host that has reached the old maximum must end a lease before the new one applies.
	Connections int

	// Short makes batches of some collections short: a lease with a URL that is requested
	// for the first time, for collection c, has at most Short[c] URLs. Collections with a
	// topic have an entry, because their links should not wait for the end of a long batch.
	Short map[string]int

	// Waiting is the number of waiting URLs above which sitemaps are not leased, so that
	// they do not add more; 0 means no limit:
	//
	//	waiting URLs                                     sitemaps
	//	of the host, more than Waiting                   only if the host has nothing else
	//	of the frontier, more than WaitingFactor times   none
	Waiting int64

	// Rooms is, for each collection with a limit of pages, the number of its URLs that may
	// still be leased for the first time. If it is 0, its URLs stay in the queue for now; if
	// it is negative, they are parked. Assets are leased in any case.
	Rooms map[string]int64
}

// WaitingFactor limits the waiting URLs of all hosts together: if more than WaitingFactor
// times Request.Waiting URLs wait in the frontier, no sitemap is leased.
const WaitingFactor = 100

// check returns an error if a number of the request is out of its range.
func (r Request) check() error {
	if r.Max < 1 || r.Max > chunk || r.MaxBytes < 1 || r.Connections < 1 {
		return fmt.Errorf("request for %d URLs (want 1 to %d) of %d bytes (want 1 or more) by %d connections (want 1 or more)",
			r.Max, chunk, r.MaxBytes, r.Connections)
	}
	return nil
}

// Lease is the right to ask one host for some URLs until the deadline. Its
// version names the batch.
type Lease struct {
	Version   layout.Version
	Host      string
	NotBefore time.Time // before this time no request may be sent to the host
	Deadline  time.Time // end of the lease, rounded down to a millisecond
	Failures  uint16    // number of the host's last answers in a row that were failures (see Settlement)
	// leased URLs, the most urgent band first (see membership.Band); stored pages that are requested
	// again come last
	Entries []Entry
}

// Alone is the number of expired leases after which a URL is leased alone, because this URL may be
// the reason why the fetch dies. After one expired lease, a URL is leased with at most eleven
// others.
const Alone = 2

// Lease leases URLs of one host to which requests are allowed at the horizon, r.Now + r.Horizon,
// or earlier. It returns false if there is no such host, and ErrNotBuilt before Open. A URL is in
// only one lease at a time.
//
// Hosts whose first URL has a weight take turns with hosts whose first URL has none. Of the hosts
// with a weight, the one with the URL of the earliest band comes first; of those without, the one
// that has been free for requests for the longest time. On a host, stored pages are leased again
// only when nothing else can be leased.
//
// A URL that stays in its queue because of Request.Waiting or Rooms may delay other URLs of its
// host and band. A host that has no other URLs is looked at again just after the horizon, or a
// minute after if sitemaps wait because of WaitingFactor. A parked URL is pending, but in no queue
// until it is admitted again.
func (f *Frontier) Lease(ctx context.Context, r Request) (Lease, bool, error) {
	if err := r.check(); err != nil {
		return Lease{}, false, f.failed("lease from", err)
	}
	collections := []any{len(r.Short)}
	for collection, most := range r.Short {
		collections = append(collections, collection, most)
	}
	for collection, room := range r.Rooms {
		collections = append(collections, collection, room)
	}
	for {
		version, err := f.nextVersion(ctx)
		if err != nil {
			return Lease{}, false, f.failed("lease from", err)
		}
		args := append([]any{
			epochValue(version.Epoch), version.String(), version.Token,
			r.Now.UnixMilli(), r.Now.Add(r.Horizon).UnixMilli(), r.Deadline.UnixMilli(),
			r.Max, r.MaxBytes, r.Connections, cmp.Or(r.Waiting, math.MaxInt32),
		}, collections...)
		reply, err := f.run(ctx, leaseScript, args...).Result()
		switch {
		case err != nil:
			return Lease{}, false, f.failed("lease from", err)
		case reply == "none":
			return Lease{}, false, nil
		case reply == "again" || reply == "closed": // closed: the frontier was opened in a new epoch meanwhile
			continue
		}
		lease, err := parseLease(reply, version, r.Deadline)
		if err != nil {
			return Lease{}, false, f.failed("lease from", err)
		}
		return lease, true, nil
	}
}

// nextVersion returns the epoch of the frontier with the next token. The lease script
// cannot take the token itself, because the key of the counter is in another slot of a
// Redis cluster. Unused tokens do no harm.
func (f *Frontier) nextVersion(ctx context.Context) (layout.Version, error) {
	var epoch *redis.StringCmd
	var tok *redis.IntCmd
	_, err := f.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		epoch = p.Get(ctx, f.key("epoch"))
		tok = p.Incr(ctx, tokens)
		return nil
	})
	if errors.Is(err, redis.Nil) {
		return layout.Version{}, ErrNotBuilt
	}
	if err != nil {
		return layout.Version{}, err
	}
	e, err := parseEpoch(epoch.Val())
	return layout.Version{Epoch: e, Token: uint64(tok.Val())}, err
}

// parseLease decodes an answer of the lease script, and returns the Lease with the version v and
// the deadline. The answer holds NotBefore, Failures, the host, and the elements of its URLs.
func parseLease(reply any, v layout.Version, deadline time.Time) (Lease, error) {
	items, ok := reply.([]any)
	if !ok || len(items) < 4 {
		return Lease{}, fmt.Errorf("lease %s: unexpected answer %v", v, reply)
	}
	notBefore, okTime := items[0].(int64)
	failures, okFailures := items[1].(int64)
	host, okHost := items[2].(string)
	if !okTime || !okFailures || !okHost {
		return Lease{}, fmt.Errorf("lease %s: unexpected answer %v", v, reply)
	}
	lease := Lease{
		Version:   v,
		Host:      host,
		NotBefore: time.UnixMilli(notBefore),
		Deadline:  time.UnixMilli(deadline.UnixMilli()),
		Failures:  uint16(failures),
	}
	for _, item := range items[3:] {
		s, _ := item.(string)
		entry, _, err := parseElement(s, host)
		if err != nil {
			return Lease{}, fmt.Errorf("lease %s: %w", v, err)
		}
		lease.Entries = append(lease.Entries, entry)
	}
	return lease, nil
}

// Extend sets a new deadline for the lease of the batch v. It returns false if the lease
// has ended already.
func (f *Frontier) Extend(ctx context.Context, v layout.Version, deadline time.Time) (bool, error) {
	out, err := f.run(ctx, extendScript, v.String(), deadline.UnixMilli()).Bool()
	return out, f.wrap("extend lease "+v.String()+" in", err)
}

// Expire ends the leases whose deadline has passed. Their URLs wait again, at the end of
// their bands, and their hosts can be leased again. It returns the number of these URLs.
//
// An expired lease does not tell whether its fetch died because of one of the URLs or
// never began. So a URL's expired leases do not count as attempts. They are counted
// apart, up to Alone, until the URL has an outcome.
func (f *Frontier) Expire(ctx context.Context, now time.Time) (requeued int, err error) {
	for {
		n, err := f.run(ctx, expireScript, now.UnixMilli(), Alone).Int64Slice()
		if err == nil && len(n) != 2 {
			err = fmt.Errorf("unexpected answer %v", n)
		}
		if err != nil {
			return requeued, f.failed("expire leases in", err)
		}
		requeued += int(n[1])
		if n[0] == 0 {
			return requeued, nil
		}
	}
}
