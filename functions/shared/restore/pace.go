package restore

import (
	"context"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/epoch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// paceKeeper makes sure that restored frontiers, the queues in Redis, request nothing of a host too
// soon. For each host it looks for three records. Each gives a time, and the next request to the host
// must not come before the latest of them:
//
//	record                                 where it is      next request not before
//	a batch of the host is leased          each frontier    the batch is settled, or its lease ends
//	time of the last request to the host   Redis            that time plus the host's delay
//	a pause for the host (book.Pace)       books, spool     the end of the pause
//
// If Redis has lost its data, the first two records are missing. Then the next request comes no
// earlier than now plus the host's delay. If the host may be in the middle of a batch whose lease was
// lost, the wait is longer by batch.MaxTime, within which every batch ends.
//
// If a host is moved to another frontier, the records of the old frontier are copied there. A process may renew the
// lease of a batch, but does so in the old frontier. So the copy of a lease ends only when every batch has
// ended, or when the batch is settled.
type paceKeeper struct {
	settings *settings.Settings
	now      time.Time
	lost     bool      // whether Redis has lost its records of requests
	silent   time.Time // time by which all requests sent before Redis was lost have ended
}

// pacer returns a paceKeeper. It asks Redis whether the records of earlier requests are still
// there, and sets the fields lost and silent accordingly. It must be called before a frontier is
// reset, because a reset deletes these records.
func (f *Frontiers) pacer(ctx context.Context, s *settings.Settings) (*paceKeeper, error) {
	p := &paceKeeper{settings: s, now: f.Now()}
	p.silent = p.now
	knows, err := frontier.PaceOf(ctx, f.Redis)
	if err != nil || knows == frontier.Kept {
		return p, err
	}
	last, err := epoch.Last(ctx, f.Bucket)
	if err != nil || last == 0 { // no request was ever sent
		return p, err
	}
	p.lost = true
	if knows == frontier.Unknown {
		p.silent = p.now.Add(batch.MaxTime)
	}
	return p, nil
}

// shut makes the frontiers wait if Redis has lost its records of the last requests to hosts;
// otherwise it does nothing. A request to a host without a record may have been sent just before the
// loss. All such requests have ended at the time p.silent. After that, the delay between two requests
// must pass, too. Until then, the frontiers lease no URL of a host without a record.
//
// shut must be called before the frontiers are reset. Then they wait even if the process is killed
// just after the reset.
func (p *paceKeeper) shut(ctx context.Context, fronts map[int]*frontier.Frontier) error {
	if !p.lost {
		return nil
	}
	for _, front := range fronts {
		if err := front.Shut(ctx, p.silent.Add(p.settings.Delay())); err != nil {
			return err
		}
	}
	return nil
}

// pace restores the pauses in which hosts get no request, by the outcomes in an account. It writes the
// end of each pause into the frontier of the host. If a large site is divided into several ranges, and
// so has several accounts, the longest pause and the greatest number of failures count.
func (f *Frontiers) pace(ctx context.Context, p *paceKeeper, some *account.Account, fronts map[int]*frontier.Frontier) error {
	resting := make(map[int][]frontier.Resting)
	for host := range some.Paces() {
		until := host.Rest
		if again := p.silent.Add(host.Delay); p.lost && host.Delay > p.settings.Delay() && again.After(until) {
			until = again
		}
		crawl, err := p.settings.Crawl.Decide(host.At)
		if err != nil || fronts[crawl] == nil || !until.After(p.now) && host.Failures == 0 {
			continue
		}
		r := frontier.Resting{Host: host.At.Host, Until: until}
		if p.lost { // else Redis has newer counts of failures
			r.Failures = host.Failures
		}
		resting[crawl] = append(resting[crawl], r)
	}
	for crawl, hosts := range resting {
		if err := fronts[crawl].Rest(ctx, hosts); err != nil {
			return err
		}
	}
	return nil
}

// moved copies the pauses of hosts, and leases of batches (see ownedBy), into each of the given
// frontiers (queues in Redis). It copies them from all other frontiers, even from those of partitions
// that the strategy no longer has. The reason: a new strategy may have moved hosts from one frontier
// to another, and no host may be asked too soon after that.
func (f *Frontiers) moved(ctx context.Context, p *paceKeeper, fronts map[int]*frontier.Frontier) error {
	all, err := frontier.Partitions(ctx, f.Redis)
	if err != nil {
		return err
	}
	for _, from := range all {
		other := frontier.New(f.Redis, from)
		resting, err := other.Resting(ctx, p.now)
		if err != nil {
			return err
		}
		held, err := other.Held(ctx)
		if err != nil {
			return err
		}
		held = slices.DeleteFunc(held, func(b frontier.Held) bool { return b.Deadline.Before(p.now) })
		for to, front := range fronts {
			if to == from {
				continue
			}
			if err := front.Rest(ctx, resting); err != nil {
				return err
			}
			if err := front.Hold(ctx, p.ownedBy(to, held)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownedBy selects, of the given leased batches, those that may request URLs of the given crawl
// partition. These are the batches with at least one URL that the partition owns; their deadlines
// become the time by which they have ended even if their leases are renewed. Batches whose URLs are
// not known are among the result, too, since they could contain such a URL. Their leases are copies,
// which nobody renews.
func (p *paceKeeper) ownedBy(crawl int, held []frontier.Held) (own []frontier.Held) {
	for _, b := range held {
		owned := slices.ContainsFunc(b.URLs, func(url string) bool {
			at, err := address.Parse(url)
			if err != nil {
				return false
			}
			owner, err := p.settings.Crawl.Decide(at)
			return err == nil && owner == crawl
		})
		if end := p.now.Add(batch.MaxTime); owned && end.After(b.Deadline) {
			b.Deadline = end
		}
		if owned || len(b.URLs) == 0 {
			own = append(own, b)
		}
	}
	return own
}
