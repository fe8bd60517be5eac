package pack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Settle applies the spool object with the given key to the frontiers: it admits links, enters the
// outcomes and ends the host's lease. Then it sends the function schedule a task to lease more
// batches, and calls Gather. Settle may run again for the same spool object. If a frontier must be
// rebuilt or changed first, Settle asks for a sweep.
func (f *Function) Settle(ctx context.Context, key string) error {
	storage, batch, err := layout.ParseSpoolKey(key)
	if err != nil {
		return message.Terminal(err)
	}
	ledger, err := spool.ReadLedger(ctx, f.Bucket, key)
	switch {
	case errors.Is(err, blob.ErrAbsent): // packed and deleted since
		return frontier.NewInbox(f.Redis, storage).Remove(ctx, []layout.Version{batch})
	case errors.Is(err, spool.ErrDamaged):
		return f.quarantine(ctx, storage, batch, err)
	case err != nil:
		return err
	}
	touched, err := f.settle(ctx, storage, ledger)
	if errors.Is(err, frontier.ErrNotBuilt) {
		// The batch must be settled before its lease ends. Otherwise its URLs would be requested once more.
		_, errAsked := task.AskSweep(ctx, f.Sender, f.Redis, f.Now())
		return errors.Join(err, errAsked)
	}
	if err != nil {
		return err
	}
	for _, crawl := range slices.Sorted(maps.Keys(touched)) {
		if err := task.Send(ctx, f.Sender, task.Schedule, task.Lease{Crawl: crawl}, 0); err != nil {
			return err
		}
	}
	return f.Gather(ctx, task.Gather{Storage: storage})
}

// settle applies the ledger of a spool object (its outcomes and links, without pages) to the
// frontiers. It also puts the batch into the inbox of the storage partition, from which the batch
// is packed later. It returns the frontiers that it changed, by crawl partition.
//
// settle fails if one of the frontiers must be rebuilt or changed first: because it was built under
// other settings, or because Redis has come back with an older state of it. Nothing is lost then, because
// the rebuild reads the spool object.
func (f *Function) settle(ctx context.Context, storage layout.Partition, ledger spool.Ledger) (touched map[int]*frontier.Frontier, err error) {
	inForce, err := f.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	pages, err := membership.ParsePages(ledger.Outcomes)
	if err != nil {
		return nil, err
	}
	results := resultsOf(inForce, ledger, pages)
	touched = make(map[int]*frontier.Frontier)
	for crawl := range results {
		if err := frontier.New(f.Redis, crawl).Built(ctx, inForce.Fingerprint()); err != nil {
			return nil, fmt.Errorf("cannot settle batch %s: %w", ledger.Batch, err)
		}
		touched[crawl] = f.front(inForce, crawl)
	}
	if err := f.settleLinks(ctx, inForce, touched, ledger.Links, pages); err != nil {
		return nil, err
	}
	// The outcomes come last: until then the crawl does not look finished.
	inbox := frontier.NewInbox(f.Redis, storage)
	waiting := frontier.Waiting{Batch: ledger.Batch, Bytes: ledger.Stored, Pages: ledger.Pages, Since: f.Now()}
	if err := inbox.Add(ctx, waiting); err != nil {
		return nil, err
	}
	if err := f.settleOutcomes(ctx, inForce, touched, results, ledger, pages); err != nil {
		return nil, err
	}
	waiting.Settled = true
	if err := inbox.Add(ctx, waiting); err != nil {
		return nil, err
	}
	// The check comes after the batch's entry in the inbox: if Redis comes back with
	// older contents after the check, the entry is lost, too, and the sweep settles the
	// batch again.
	for _, front := range touched {
		if err := front.Kept(ctx); err != nil {
			return nil, errors.Join(err, inbox.Unsettle(ctx, ledger.Batch))
		}
	}
	return touched, nil
}

// front returns the frontier of a crawl partition, with a safeguard: its methods change nothing and
// return an error if the frontier was not built under the settings s, or if Redis has lost earlier
// changes to it.
func (f *Function) front(s *settings.Settings, crawl int) *frontier.Frontier {
	return frontier.New(f.Redis, crawl).WithRuns(f.Bucket).WithRunCache(&f.runs).Under(s.Fingerprint()).Keeping()
}

// settleLinks queues the targets of links: new URLs, pages that have changed since they were
// fetched, and pages that are stored only for other collections. It adds to the map touched the
// frontiers that it changes. The parameter pages has the pages of the batch, in which the links
// were found.
func (f *Function) settleLinks(ctx context.Context, s *settings.Settings, touched map[int]*frontier.Frontier, links []book.Link, pages []membership.Page) error {
	found, err := decide(s, links, pages)
	if err != nil {
		return err
	}
	for _, crawl := range slices.Sorted(maps.Keys(found.admitted)) {
		if touched[crawl] == nil {
			touched[crawl] = f.front(s, crawl)
		}
		admitted, err := touched[crawl].Admit(ctx, f.Now(), found.admitted[crawl])
		if err != nil {
			return err
		}
		if err := f.renewLacking(ctx, s, touched[crawl], found.admitted[crawl], found.targets, admitted.Lacking); err != nil {
			return err
		}
	}
	again, err := f.again(ctx, s, found.changed)
	if err != nil {
		return err
	}
	for _, crawl := range slices.Sorted(maps.Keys(again)) { // all of them are touched: changed pages are admitted
		if _, err := touched[crawl].Renew(ctx, f.Now(), again[crawl]); err != nil {
			return err
		}
	}
	return nil
}

// resultsOf converts the outcomes of a batch for the frontiers, and groups them by crawl partition:
// a page's outcome goes to the partition that owns its URL now. In most cases this is the partition
// that leased the batch, but a strategy may have moved the URL since. The leasing partition has an
// entry in the result even if it owns none of the URLs, because the lease must be ended there.
// Forgotten pages, and pages that no crawl partition owns any more, are left out.
func resultsOf(s *settings.Settings, ledger spool.Ledger, pages []membership.Page) map[int][]frontier.Result {
	all := make(map[int][]frontier.Result)
	if slices.Contains(s.Crawl.Partitions(), ledger.Crawl) {
		all[ledger.Crawl] = nil // its lease ends
	}
	for _, p := range pages {
		if s.Takedowns.Forgets(p.Address) {
			continue // the frontier was built without it
		}
		crawl, err := s.Crawl.Decide(p.Address)
		if err != nil {
			continue // no longer to be crawled
		}
		all[crawl] = append(all[crawl], result(s, p))
	}
	return all
}

// settleOutcomes enters a batch's results into the frontiers. It also enters the time before which
// no request may be sent to the host of the batch, and caches the robots.txt files that the batch
// fetched.
func (f *Function) settleOutcomes(ctx context.Context, s *settings.Settings, fronts map[int]*frontier.Frontier, results map[int][]frontier.Result, ledger spool.Ledger, pages []membership.Page) error {
	rest, err := f.keepRobots(ctx, ledger)
	if err != nil {
		return err
	}
	if ledger.Rest.After(rest) {
		rest = ledger.Rest
	}
	delay, err := f.delay(ctx, s, pages, ledger.Slow)
	if err != nil {
		return err
	}
	settlement := frontier.Settlement{
		Version:  ledger.Batch,
		Host:     ledger.Host,
		Ended:    ledger.Ended,
		Delay:    delay,
		Rest:     rest,
		Failures: ledger.Failures,
	}
	for _, crawl := range slices.Sorted(maps.Keys(results)) {
		settlement.Outcomes = results[crawl]
		if _, err := fronts[crawl].Settle(ctx, settlement); err != nil {
			return err
		}
	}
	return nil
}

// result returns a page's outcome in the frontier's form. A stored page counts towards the limits
// of its collections. An operator can demand that URLs be requested again that failed before a
// certain time (see settings.Settings.AskAgain). Such a failure becomes a retry.
func result(s *settings.Settings, p membership.Page) frontier.Result {
	r := frontier.Result{ID: p.Address.ID, Place: p.Address.Place, State: p.State, Attempts: p.Attempts}
	if len(p.Collections) == 0 {
		return r
	}
	switch p.State {
	case book.Stored, book.Unchanged:
		r.Tallies = s.Tallies(*p.Outcome, p.Address)
	case book.Failed:
		if s.AskAgain(p.Collections[0], *p.Outcome) {
			r.State, r.Attempts = book.Retry, 0
		}
	}
	return r
}

const (
	// robotsAge is the time for which a robots.txt is used (RFC 9309, section 2.4).
	robotsAge = 24 * time.Hour
	// robotsRest is the time for which no request is sent to a host after one of its robots.txt
	// files could not be fetched.
	robotsRest = 5 * time.Second
)

// keepRobots caches the robots.txt files that the batch fetched. If a file could not be fetched, it
// is not cached: no URL of its origin may be requested before the file is there (RFC 9309, section
// 2.3.1.4). In this case the result rest is the time before which no request may be sent to the
// host. Otherwise rest is zero.
func (f *Function) keepRobots(ctx context.Context, ledger spool.Ledger) (rest time.Time, err error) {
	cache := frontier.NewRobotsCache(f.Redis)
	for _, r := range ledger.Robots {
		if !robots.Reachable(r.Status) {
			rest = r.Fetched.Add(robotsRest) // the last one is the latest: they are fetched one after another
			continue
		}
		if err := cache.Put(ctx, r.Origin, r.Status, r.Body, r.Fetched.Add(robotsAge)); err != nil {
			return time.Time{}, err
		}
	}
	return rest, nil
}

// delay returns for how long no request may be sent to the host after a batch. It is the longest
// delay that the collections of the batch's pages, or the robots.txt files of its origins, require;
// 0 if none requires one. If the host needs longer than that for an answer (the parameter slow),
// the delay is as long as the answer takes.
func (f *Function) delay(ctx context.Context, s *settings.Settings, pages []membership.Page, slow time.Duration) (time.Duration, error) {
	// agents has the User-Agents of the requests to each origin.
	agents := make(map[string]map[string]bool)
	var delay time.Duration
	for _, p := range pages {
		origin := p.Address.Origin
		if agents[origin] == nil {
			agents[origin] = make(map[string]bool)
		}
		agents[origin][f.agent(s, p.Collections)] = true
		delay = max(delay, s.DelayOf(p.Collections...))
	}
	cached, err := frontier.NewRobotsCache(f.Redis).Get(ctx, f.Now(), slices.Collect(maps.Keys(agents))...)
	if err != nil {
		return 0, err
	}
	for origin, answer := range cached {
		for agent := range agents[origin] {
			delay = max(delay, robots.Parse(answer.Status, answer.Body, agent).Delay())
		}
	}
	if delay > 0 {
		delay = max(delay, slow)
	}
	return delay, nil
}

// agent returns the User-Agent for pages of these collections: that of the first, or
// f.Agent if the first names none.
func (f *Function) agent(s *settings.Settings, collections []string) string {
	if len(collections) == 0 {
		return f.Agent
	}
	return cmp.Or(s.AgentOf(collections[0]), f.Agent)
}
