package fetch

import (
	"context"
	"errors"
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

// run is the state of one batch while it is fetched. Only the goroutine that sends requests uses
// it, with one exception: from the time at which a page is sent to the digester until it is
// digested, its outcome belongs to the digester.
type run struct {
	f        *Function
	batch    batch.Batch
	behalf   behalf
	targets  []address.Address       // parsed addresses of batch.Targets
	wanted   [][]string              // names of the collections for which each target is requested
	origins  map[string]*originState // origins whose robots.txt was requested in this batch
	stop     time.Time               // time after which no request is sent, and running ones are interrupted
	pace     pace
	received int64 // bytes of pages received so far
	pages    int   // see Moment.Pages
	ledger   spool.Ledger
	links    [][]book.Link // links from redirects and sitemaps, by the index of the target that led to them
	claims   []*claims     // collections to which each target belongs (see claims); nil for a target for which they are not computed yet
	replayed bool          // the answers are read from an archive and not requested (see Replay)

	// pages that were requested as canonical addresses of other pages; the key is the User-Agent, a
	// space and the address
	named map[string]canonicalPage
	// pages that may become an alias; this is decided when all targets are fetched and parsed
	postponed []*canonicalRequest
	over      bool // all targets are fetched and parsed
}

// newRun returns the run of a batch, in which every target has the outcome "not asked". It fails if
// the settings cannot be read. If a URL of the batch is invalid, the error is a message.Terminal
// one, after which the message is not delivered again.
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

// receive counts n bytes of pages that were received.
func (r *run) receive(n int64) {
	r.received += n
	r.f.held.Add(n)
}

// release ends the count of the batch's pages toward Limits.Together.
func (r *run) release() { r.f.held.Add(-r.received) }

// isFull reports whether nothing more may be requested, because of Limits.Batch or Limits.Together. A batch
// that has received nothing waits for room first, until its time is over: the other batches end meanwhile.
func (r *run) isFull(ctx context.Context) bool {
	for r.received == 0 && r.f.held.Load() >= r.f.Limits.Together && r.now().Before(r.stop) {
		if r.f.Sleep(ctx, roomWait) != nil {
			break
		}
	}
	return r.received >= r.f.Limits.Batch || r.f.held.Load() >= r.f.Limits.Together
}

// fetch requests all that the batch needs, and returns the spool object.
func (r *run) fetch(ctx context.Context) spool.Spool {
	d := newDigester(r.ledger.Outcomes, r.f)
	defer d.wait() // also when an answer makes it panic
	began := r.request(ctx, d)
	return r.finish(ctx, d, began)
}

// request waits for the batch's turn (see turns). Then it requests the robots.txt files, all targets, and
// the canonical addresses that decide on aliases. It returns the time at which the turn began. If the turn
// does not come in the time of the batch, request requests nothing.
func (r *run) request(ctx context.Context, d *digester) (began time.Time) {
	waiting, cancel := context.WithTimeout(ctx, r.stop.Sub(r.now()))
	defer cancel()
	earlier, next, err := r.f.turns.enter(waiting, r.batch.Host, r.behalf.settings.HostConnections())
	began = r.now()
	if err != nil {
		return began
	}
	defer func() { r.f.turns.leave(r.batch.Host, r.pace, r.pace.next(r.delay()), r.now()) }()
	if earlier != nil {
		r.batch.NotBefore, r.batch.Failures = latest(r.batch.NotBefore, next), earlier.count()
		r.pace = *earlier
	}
	if r.askRobots(ctx) {
		r.askTargets(ctx, d)
	}
	d.wait()
	r.prove(ctx, d, true)
	return began
}

// finish waits until all pages are parsed and compressed, and returns the spool object of the batch. The
// object's outcomes, and its pages, are in the order of the batch's targets. The parameter began is the time
// at which the fetch of the batch began.
func (r *run) finish(ctx context.Context, d *digester, began time.Time) spool.Spool {
	results := d.wait()
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

// end completes the ledger of the batch, which has all results of the batch except the pages. An
// outcome may count for more collections than those that requested its target: end adds their names
// (see share). It also writes the times, the host's pace and the vital signs.
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

// notePace writes the host's pace into every outcome: the time until which the host must not be
// requested, the number of its failures in a row, and the delay that it requires. So the pace is
// kept in the books, too, and not only in Redis. If the host failed before this batch and now
// answers again, the books must record the recovery. Then the number of failures is 0, and the time
// is the end of the batch.
func (r *run) notePace() {
	wanted := book.Pace{Rest: r.ledger.Rest, Failures: r.ledger.Failures}
	if r.batch.Failures > 0 && wanted.Failures == 0 && wanted.Rest.IsZero() {
		wanted.Rest = r.ledger.Ended
	}
	asked, collections := r.delay(), time.Duration(0)
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

// delay returns the longest delay between requests that the batch, or a robots.txt that was fetched with it,
// requires.
func (r *run) delay() time.Duration {
	longest := r.batch.Delay()
	for name, o := range r.origins {
		agent, _ := r.askers(name)
		longest = max(longest, o.rules(agent).Delay())
	}
	return longest
}

// askRobots fetches the robots.txt of every origin in batch.Robots. It returns false if the time
// of the batch ran out.
func (r *run) askRobots(ctx context.Context) bool {
	for _, name := range r.batch.Robots {
		if !r.robots(ctx, name) {
			return false
		}
	}
	return true
}

// askTargets requests the targets one after another. It requests none that schedule has marked as
// denied, and none that robots.txt forbids. When the limits of bytes are reached (see isFull), it
// requests no more.
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
		case r.isFull(ctx): // the rest is not asked for
		case t.Sitemap:
			r.sitemap(ctx, i, agent, known.rules(agent).Delay())
		default:
			r.page(ctx, i, agent, known.rules(agent).Delay(), d)
			r.prove(ctx, d, false)
		}
	}
}

// ask waits for the delay between requests, sends a request, and returns the answer and true. If the
// batch's lease has ended, if its time ends before the answer has come, or if there is no memory for it
// (errNoRoom), it returns false, and the target stays "not asked". There is one exception: a request that was
// under way for half of Limits.Request or more when the time ended counts as answered, with an error. So a page
// that is always too slow fails in the end, and is not requested for ever.
func (r *run) ask(ctx context.Context, q request, delay time.Duration) (answer, bool) {
	var turn time.Time
	if !q.away {
		turn = latest(r.batch.NotBefore, r.pace.next(max(delay, r.batch.Delay())))
	}
	if !latest(turn, r.now()).Before(r.stop) {
		return answer{}, false
	}
	if wait := turn.Sub(r.now()); wait > 0 {
		r.tell(turn)
		if r.f.Sleep(ctx, wait) != nil {
			return answer{}, false
		}
	}
	r.tell(time.Time{})
	limited, cancel := context.WithTimeout(ctx, r.stop.Sub(r.now()))
	defer cancel()
	var at netip.Addr
	if !q.away {
		at = r.f.limits.of(r.batch.Host)
	}
	leave, err := r.f.limits.enter(limited, at, r.f.processes())
	if err != nil {
		return answer{}, false
	}
	if r.f.Lease != nil && !r.now().Before(r.f.Lease(ctx, r.batch)) { // it may have ended during either wait
		leave()
		return answer{}, false
	}
	a := r.f.ask(withAllowed(limited, r.behalf.allowed), q)
	leave()
	if !q.away {
		r.f.limits.answered(r.batch.Host, a.address)
	}
	r.ledger.Vitals.Bytes += a.sent
	if errors.Is(a.err, errNoRoom) || a.err != nil && limited.Err() != nil && a.ended.Sub(a.began) < r.f.Limits.Request/2 {
		r.pace.last = a.ended
		return answer{}, false
	}
	r.pace.observe(a)
	return a, true
}

// more returns n + 1, or n itself if it is the greatest number of its type.
func more[N uint8 | uint16](n N) N { return max(n, n+1) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
