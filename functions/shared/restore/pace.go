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

// paceKeeper keeps restored frontiers from requesting anything of a host too soon.
//
//	source                  what it records                    no request to the host before
//	Redis, each frontier    a leased batch                     its deadline or settlement
//	Redis                   the last request to a host         that time plus the host's delay
//	books and spool         a host's rest (see book.Pace)      the end of the rest
//	none: Redis was lost    -                                  now plus the delay; if a batch may
//	                                                           be on lease, plus batch.MaxTime
//
// When a host changes its frontier, the records of the old frontier go with it.
type paceKeeper struct {
	settings *settings.Settings
	now      time.Time
	lost     bool      // Redis has lost its records of requests
	silent   time.Time // time by which all requests sent before Redis was lost have ended
}

// pacer returns a paceKeeper, for which it finds out whether Redis has lost its records of
// requests. It must be called before a frontier is reset, because a reset deletes these records.
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

// shut makes the frontiers wait if Redis has lost its records of requests; otherwise it does
// nothing. Until p.silent plus the delay in the settings, the frontiers then lease no URL of a
// host of which Redis has no record. It must run before the frontiers are reset, so that they wait
// even if the process is killed after the reset.
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

// pace restores the pauses in which hosts get no request: it writes each pause that the books record,
// with the time of its end, into the frontier of the host. If a new strategy may have moved hosts to
// another frontier, it also copies their leases and pauses from the old one (see moved).
func (f *Frontiers) pace(ctx context.Context, p *paceKeeper, books *account.Bucket, fronts map[int]*frontier.Frontier) error {
	resting := make(map[int][]frontier.Resting)
	for host := range books.Paces() {
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
	return f.moved(ctx, p, fronts)
}

// moved copies leased batches, and hosts to which no request may be sent yet, from all other
// frontiers into those in the parameter fronts, because a new strategy may have moved these hosts
// there. The other frontiers include those of partitions that the strategy no longer has.
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

// ownedBy returns those batches in the parameter held that may request URLs of a crawl partition:
// batches with a URL that the partition owns, and batches whose URLs are not known.
func (p *paceKeeper) ownedBy(crawl int, held []frontier.Held) (own []frontier.Held) {
	for _, b := range held {
		if len(b.URLs) == 0 || slices.ContainsFunc(b.URLs, func(url string) bool {
			at, err := address.Parse(url)
			if err != nil {
				return false
			}
			owner, err := p.settings.Crawl.Decide(at)
			return err == nil && owner == crawl
		}) {
			own = append(own, b)
		}
	}
	return own
}
