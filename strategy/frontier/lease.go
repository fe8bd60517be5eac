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
	// MaxBytes is the maximum size of all entries together, in bytes. The URLs, the names of
	// collections and the encoded fields Last count toward it. An entry that is larger by itself is
	// leased alone.
	MaxBytes int
	// Connections is the maximum number of leases of one host at a time. A host that has reached
	// the maximum is not leased again until one of its leases ends, even if a later request has a
	// higher maximum.
	Connections int

	// Short gives the maximum number of URLs in a lease for collections whose leases must be short.
	// It holds for a lease if one of the URLs is requested for the collection for the first time.
	// Short is meant for collections with a topic: the links that a batch finds are weighed by the
	// topic only after the whole batch has ended, and a short batch ends sooner.
	Short map[string]int

	// Waiting restricts the leasing of sitemaps, because sitemaps add further URLs. It is a number of
	// waiting URLs; 0 means no restriction:
	//
	//   - While more than Waiting URLs wait on a host, a sitemap of the host is leased only if
	//     no other URL of the host can be leased.
	//   - While more than WaitingFactor × Waiting URLs wait in the frontier, no sitemap is leased.
	Waiting int64

	// Rooms says for each collection with a limit of pages how many of its URLs may still be
	// leased for the first time. If the number is 0, such URLs stay in the queue for now; if
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

// Lease leases URLs of one host. Requests to the host must be allowed at the horizon (r.Now +
// r.Horizon) or earlier. Lease returns false if there is no such host, and ErrNotBuilt before Open. A
// URL is in only one lease at a time.
//
// Two groups of hosts take turns: hosts whose first URL has a weight, and hosts whose first URL has
// none. In the first group, Lease chooses the host whose first URL has the earliest band (level of
// priority). In the second group, it chooses the host that has been free for requests for the longest
// time. On each host, stored pages are leased again only when nothing else can be leased.
//
// Request.Waiting and Request.Rooms can keep a URL in its queue. Such a URL may delay other URLs of
// its host and band. If nothing can be leased on a host for this reason, the host is put off: further
// calls pass over it, until one has a later horizon than this call (a minute later if sitemaps wait
// because of WaitingFactor). Request.Rooms can also park a URL: it is pending then, but in no queue
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

// nextVersion takes the next token from the counter in Redis, and returns it with the epoch
// of the frontier. The lease script cannot take the token itself: in a Redis cluster, a
// script can only use keys of one slot, and the counter is in another slot than the
// frontier. A token that is never used does no harm.
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
// the deadline. The answer holds NotBefore, Failures, the host, and the elements of the leased URLs.
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

// Expire ends the leases whose deadline has passed. Their URLs wait again, at the end of the
// queues of their bands, and their hosts can be leased again. It returns the number of these
// URLs.
//
// When a lease expires, perhaps its fetch has died because of one of the URLs. Or perhaps
// the fetch has never begun. The frontier cannot tell the two cases apart. So an expired
// lease does not count as an attempt. Instead, the frontier counts the expired leases of
// each URL, up to the constant Alone, until the URL has an outcome.
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
