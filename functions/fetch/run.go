package fetch

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// run is one batch under way. Its fields belong to the goroutine that asks;
// of the outcomes, those of the pages handed to the digester belong to that.
type run struct {
	f        *Function
	batch    batch.Batch
	behalf   behalf
	targets  []address.Address
	origins  map[string]*origin // whose robots.txt was asked for in this batch
	stop     time.Time          // nothing is asked for after it
	pace     pace
	address  netip.Addr // of the host's last answer
	received int64      // bytes of pages
	ledger   spool.Ledger
	links    [][]book.Link // of redirects, by target
}

func (f *Function) newRun(ctx context.Context, b batch.Batch) (*run, error) {
	if len(b.Targets) > batch.MaxTargets {
		return nil, fmt.Errorf("%d targets, at most %d are allowed", len(b.Targets), batch.MaxTargets)
	}
	r := &run{f: f, batch: b, origins: map[string]*origin{}, stop: b.Deadline, links: make([][]book.Link, len(b.Targets))}
	r.pace.failures = int(b.Failures)
	if end, limited := ctx.Deadline(); limited && end.Before(r.stop) {
		r.stop = end
	}
	r.stop = r.stop.Add(-f.Limits.Margin)
	r.ledger = spool.Ledger{Batch: b.Version, Crawl: b.Crawl, Host: b.Host}
	for _, t := range b.Targets {
		a, err := address.Parse(t.URL)
		if err != nil {
			return nil, err
		}
		r.targets = append(r.targets, a)
		r.ledger.Outcomes = append(r.ledger.Outcomes, r.notAsked(t, a))
	}
	return r, nil
}

func (r *run) now() time.Time { return r.f.Now() }

// fetch asks for all and returns what came of it, in the order of the targets.
func (r *run) fetch(ctx context.Context) spool.Spool {
	began := r.now()
	d := newDigester(r.ledger.Outcomes, &r.f.compressors)
	defer d.wait() // also when an answer makes it panic
	if r.askRobots(ctx) {
		r.askTargets(ctx, d)
	}
	results := d.wait()
	r.end(began)
	object := spool.Spool{}
	for i, result := range results {
		r.ledger.Links = append(append(r.ledger.Links, r.links[i]...), result.links...)
		if r.ledger.Outcomes[i].State == book.Stored {
			object.Pages = append(object.Pages, spool.Page{Outcome: i, Run: result.run})
		}
	}
	object.Ledger = r.ledger
	return object
}

// end writes into the ledger what is known when all is over.
func (r *run) end(began time.Time) {
	r.ledger.Ended = notBefore(r.pace.last)
	if r.pace.last.IsZero() {
		r.ledger.Ended = notBefore(r.now())
	}
	r.pace.note(&r.ledger)
	r.ledger.Vitals.Worker = r.f.Worker
	r.ledger.Vitals.Elapsed = max(0, r.now().Sub(began))
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
			o.Attempts = once(o.Attempts)
			conclude(o, t, *known.absent)
		case !known.rules(agent).Allows(a.Path):
			conclude(o, t, verdict{book.Skipped, "robots", ""})
		case r.received >= r.f.Limits.Batch: // the rest is not asked for
		case t.Sitemap:
			r.sitemap(ctx, i, agent, known.rules(agent).Delay())
		default:
			question := request{url: a.URL, agent: agent, limit: r.f.Limits.Page}
			if t.Last != nil {
				question.etag, question.modified = t.Last.ETag, t.Last.Modified
			}
			if answer, asked := r.ask(ctx, question, known.rules(agent).Delay()); asked {
				r.received += int64(len(answer.body))
				r.note(i, answer, d)
			}
		}
	}
}

// ask waits for the host's turn and asks. It reports false when time ran out
// before there was an answer, or runs out before the host has rested. A request
// that was given half of Limits.Request and more has had its chance: that it was
// interrupted is its answer, lest a page that is always too slow be asked for
// again for ever.
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
	leave, err := r.f.crowds.enter(limited, at)
	if err != nil {
		return answer{}, false
	}
	a := r.f.ask(withAllow(limited, r.behalf.allow), q)
	leave()
	if !q.away {
		r.address = a.address
	}
	r.ledger.Vitals.Bytes += a.sent
	if a.err != nil && limited.Err() != nil && a.ended.Sub(a.began) < r.f.Limits.Request/2 {
		r.pace.last = a.ended
		return answer{}, false
	}
	r.pace.heard(a)
	return a, true
}

// note writes what an answer says about a target, and hands pages on.
func (r *run) note(i int, a answer, d *digester) {
	t, o := r.batch.Targets[i], &r.ledger.Outcomes[i]
	o.Attempts, o.Status, o.Time = once(o.Attempts), uint16(a.status), millisecond(a.ended)
	if a.err != nil {
		conclude(o, t, judge(a.err))
	} else if isRedirect(a) {
		conclude(o, t, r.redirect(i, a))
	} else if v, final := judgeStatus(a, t.Last != nil && t.Last.ETag+t.Last.Modified != ""); !final {
		d.pages <- page{index: i, target: t, behalf: r.behalf, address: r.targets[i], answer: a}
	} else {
		if v.state == book.Unchanged {
			o.ETag, o.Modified = validators(a, t.Last)
		}
		conclude(o, t, v)
	}
}

// redirect records where a target led as a link.
func (r *run) redirect(i int, a answer) verdict {
	to, err := r.targets[i].Resolve(a.location())
	if err != nil {
		return verdict{book.Failed, "bad redirect", fmt.Sprintf("%s: %v", http.StatusText(a.status), err)}
	}
	o := r.ledger.Outcomes[i]
	r.links[i] = []book.Link{{
		Source: r.targets[i].ID, Target: to.URL, Place: to.Place, Kind: book.Redirect, Region: book.Text,
		Depth: o.Depth, Hops: once(o.Hops), Weight: r.batch.Targets[i].Weight, Collection: collectionOf(o),
	}}
	return verdict{book.Skipped, "redirect", "to " + to.URL}
}

// once adds one, up to what fits.
func once(n uint8) uint8 { return min(n, math.MaxUint8-1) + 1 }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
