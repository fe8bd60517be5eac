package fetch

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// run is one batch while it is fetched. Its fields belong to the goroutine that
// sends requests, except the outcomes of pages passed to the digester, which
// belong to the digester.
type run struct {
	f        *Function
	batch    batch.Batch
	behalf   behalf
	targets  []address.Address
	wanted   [][]string              // for which collections each target is asked
	origins  map[string]*originState // whose robots.txt was requested in this batch
	stop     time.Time               // nothing is requested after it
	pace     pace
	address  netip.Addr // of the host's last answer
	received int64      // bytes of pages
	ledger   spool.Ledger
	links    [][]book.Link // of redirects, by target
	claims   []*claims     // by target, once they are known
	replayed bool          // see Replay

	named     map[string]canonicalPage // pages fetched because others name them as canonical, by agent and address
	postponed []*canonicalRequest
	over      bool // all targets are digested
}

// newRun returns the run of a batch, before its first request. It fails if the
// settings cannot be read, and with a terminal error if the batch is invalid.
func (f *Function) newRun(ctx context.Context, b batch.Batch) (*run, error) {
	r := &run{f: f, batch: b, origins: map[string]*originState{}, named: map[string]canonicalPage{}, stop: b.Deadline, links: make([][]book.Link, len(b.Targets)), claims: make([]*claims, len(b.Targets))}
	r.pace.failures = int(b.Failures)
	var err error
	if r.behalf, err = f.behalf(ctx, b.Targets); err != nil {
		return nil, fmt.Errorf("batch %s: %w", b.Version, err)
	}
	if last, limited := ctx.Deadline(); limited && last.Before(r.stop) {
		r.stop = last
	}
	r.stop = r.stop.Add(-f.Limits.Margin)
	r.ledger = spool.Ledger{Batch: b.Version, Crawl: b.Crawl, Host: b.Host}
	for _, t := range b.Targets {
		a, err := address.Parse(t.URL)
		if err != nil {
			return nil, message.Terminal(fmt.Errorf("batch %s: %w", b.Version, err))
		}
		r.targets = append(r.targets, a)
		unasked := r.notAsked(t, a)
		unasked.Asset = !t.Sitemap && r.behalf.settings.IsAssetOnly(t.Collections, a, membership.Path{Depth: t.Depth, Hops: t.Hops, Weight: t.Weight})
		r.ledger.Outcomes, r.wanted = append(r.ledger.Outcomes, unasked), append(r.wanted, unasked.Collections)
	}
	return r, nil
}

func (r *run) now() time.Time { return r.f.Now() }

// fetch fetches all targets and returns the spool, in the order of the targets.
func (r *run) fetch(ctx context.Context) spool.Spool {
	began := r.now()
	d := newDigester(r.ledger.Outcomes, &r.f.compressors)
	defer d.wait() // also when an answer makes it panic
	if r.askRobots(ctx) {
		r.askTargets(ctx, d)
	}
	return r.finish(ctx, d, began)
}

// finish returns the spool when all targets have an answer, or get none.
func (r *run) finish(ctx context.Context, d *digester, began time.Time) spool.Spool {
	results := d.wait()
	r.prove(ctx, d, true)
	r.end(began)
	object := spool.Spool{}
	links := 0
	for i := range results {
		links += len(r.links[i]) + len(results[i].links)
	}
	r.ledger.Links = slices.Grow(r.ledger.Links, links)
	for i, result := range results {
		if result.panicked != "" {
			message.Note(ctx, book.Panicked, slog.String("url", r.ledger.Outcomes[i].URL), slog.String("reason", result.panicked))
		}
		r.ledger.Links = append(append(r.ledger.Links, r.links[i]...), result.links...)
		if r.ledger.Outcomes[i].State == book.Stored {
			object.Pages = append(object.Pages, spool.Page{Outcome: i, Run: result.run})
		}
	}
	object.Ledger = r.ledger
	return object
}

// end writes the times and the pace of the batch into the ledger.
func (r *run) end(began time.Time) {
	r.ledger.Ended = notBefore(r.pace.last)
	if r.pace.last.IsZero() {
		r.ledger.Ended = notBefore(r.now())
	}
	for i := range r.ledger.Outcomes {
		r.share(i)
	}
	r.pace.note(&r.ledger)
	r.notePace()
	r.ledger.Vitals.Worker = r.f.Worker
	r.ledger.Vitals.Elapsed = max(0, r.now().Sub(began))
}

// notePace writes the host's rest and failures into the outcomes, so that they are
// in the books when Redis is lost. It writes them also when a host with failures
// has recovered.
func (r *run) notePace() {
	wanted := book.Pace{Rest: r.ledger.Rest, Failures: r.ledger.Failures}
	if r.batch.Failures > 0 && wanted.Failures == 0 && wanted.Rest.IsZero() {
		wanted.Rest = r.ledger.Ended
	}
	asked := r.batch.Delay()
	for name, o := range r.origins {
		agent, _ := r.askers(name)
		asked = max(asked, o.rules(agent).Delay())
	}
	collections := time.Duration(0)
	for _, o := range r.ledger.Outcomes {
		collections = max(collections, r.behalf.settings.DelayOf(o.Collections...))
	}
	if asked > collections {
		wanted.Delay = min(asked, book.MaxDelay)
	}
	for i := range r.ledger.Outcomes {
		r.ledger.Outcomes[i].Pace = wanted
	}
}

func (r *run) askRobots(ctx context.Context) bool {
	for _, name := range r.batch.Robots {
		if !r.robots(ctx, name) {
			return false
		}
	}
	return true
}

func (r *run) askTargets(ctx context.Context, d *digester) {
	for i, t := range r.batch.Targets {
		a, o := r.targets[i], &r.ledger.Outcomes[i]
		known, agent := r.origins[a.Origin], r.behalf.agentOf(collectionOf(*o))
		switch {
		case t.Denied != "":
			conclude(o, t, verdict{book.Skipped, t.Denied, ""})
		case known != nil && known.absent != nil:
			o.Attempts = more(o.Attempts)
			conclude(o, t, *known.absent)
		case !known.rules(agent).Allows(a.Path):
			conclude(o, t, verdict{book.Skipped, membership.Robots, ""})
		case r.received >= r.f.Limits.Batch: // the rest is not asked for
		case t.Sitemap:
			r.sitemap(ctx, i, agent, known.rules(agent).Delay())
		default:
			r.page(ctx, i, agent, known.rules(agent).Delay(), d)
			r.prove(ctx, d, false)
		}
	}
}

// ask waits until the host may be asked, and sends the request. It returns false
// when the time of the batch ran out before the answer, or runs out before the
// host's rest ends. A request interrupted after half of Limits.Request or more
// counts as answered with an error: else a page that is always too slow would be
// requested again for ever.
func (r *run) ask(ctx context.Context, q request, delay time.Duration) (answer, bool) {
	var turn time.Time
	if !q.away {
		turn = latest(r.batch.NotBefore, r.pace.next(max(delay, r.batch.Delay())))
	}
	if !latest(turn, r.now()).Before(r.stop) {
		return answer{}, false
	}
	if wait := turn.Sub(r.now()); wait > 0 && r.f.Sleep(ctx, wait) != nil {
		return answer{}, false
	}
	limited, cancel := context.WithTimeout(ctx, r.stop.Sub(r.now()))
	defer cancel()
	at := r.address
	if q.away {
		at = netip.Addr{}
	}
	leave, err := r.f.limits.enter(limited, at)
	if err != nil {
		return answer{}, false
	}
	a := r.f.ask(withAllowed(limited, r.behalf.allowed), q)
	leave()
	if !q.away {
		r.address = a.address
	}
	r.ledger.Vitals.Bytes += a.sent
	if a.err != nil && limited.Err() != nil && a.ended.Sub(a.began) < r.f.Limits.Request/2 {
		r.pace.last = a.ended
		return answer{}, false
	}
	r.pace.observe(a)
	return a, true
}

// more returns n + 1, or n if that does not fit.
func more[N uint8 | uint16](n N) N { return max(n, n+1) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
