package pack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/message"
	"github.com/bucketsearch/bucketsearch/functions/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Settle folds a spool object into the frontier: links admitted, outcomes
// settled, the host's lease ended. Then it gathers, and asks schedule for
// more. All of it may be done twice.
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
	inForce, err := f.Settings.Get(ctx)
	if err != nil {
		return err
	}
	// A frontier of other settings finds the spool object when it is rebuilt.
	// Should it become one after this look, it refuses what follows.
	if err := frontier.New(f.Redis, ledger.Crawl).Built(ctx, inForce.Fingerprint()); err != nil {
		return fmt.Errorf("cannot settle batch %s: %w", batch, err)
	}
	links, err := decide(inForce, ledger.Links)
	if err != nil {
		return err
	}
	own := f.front(inForce, ledger.Crawl)
	touched := map[int]*frontier.Frontier{ledger.Crawl: own}
	for _, crawl := range slices.Sorted(maps.Keys(links)) {
		if touched[crawl] == nil {
			touched[crawl] = f.front(inForce, crawl)
		}
		if _, err := touched[crawl].Admit(ctx, f.Now(), links[crawl]); err != nil {
			return err
		}
	}
	// The outcomes come last: until then the crawl does not look finished.
	inbox := frontier.NewInbox(f.Redis, storage)
	waiting := frontier.Waiting{Batch: batch, Bytes: ledger.Stored, Pages: ledger.Pages, Since: f.Now()}
	if err := inbox.Add(ctx, waiting); err != nil {
		return err
	}
	if err := f.settleOutcomes(ctx, inForce, own, ledger); err != nil {
		return err
	}
	waiting.Settled = true
	if err := inbox.Add(ctx, waiting); err != nil {
		return err
	}
	// This look comes behind the entry: a Redis that goes back after it takes
	// the entry with it.
	for _, front := range touched {
		if err := front.Kept(ctx); err != nil {
			return errors.Join(err, inbox.Unsettle(ctx, batch))
		}
	}
	for _, crawl := range slices.Sorted(maps.Keys(touched)) {
		if err := task.Send(ctx, f.Sender, task.Schedule, task.Lease{Crawl: crawl}, 0); err != nil {
			return err
		}
	}
	return f.Gather(ctx, task.Gather{Storage: storage})
}

// front is a frontier into which one batch is settled.
func (f *Function) front(s *settings.Settings, crawl int) *frontier.Frontier {
	return frontier.New(f.Redis, crawl).Under(s.Fingerprint()).Keeping()
}

func (f *Function) settleOutcomes(ctx context.Context, s *settings.Settings, own *frontier.Frontier, ledger spool.Ledger) error {
	rest, err := f.keepRobots(ctx, ledger)
	if err != nil {
		return err
	}
	delay, err := f.crawlDelay(ctx, ledger)
	if err != nil {
		return err
	}
	delay = max(delay, s.Delay())
	if delay > 0 { // who waits at all waits as long as answers take
		delay = max(delay, ledger.Slow)
	}
	if ledger.Rest.After(rest) {
		rest = ledger.Rest
	}
	settlement := frontier.Settlement{
		Version:  ledger.Batch,
		Host:     ledger.Host,
		Ended:    ledger.Ended,
		Delay:    delay,
		Rest:     rest,
		Failures: ledger.Failures,
	}
	for _, o := range ledger.Outcomes {
		if s.Takedowns.ForgetsURL(o.URL) {
			continue // the frontier was built without it
		}
		settlement.Outcomes = append(settlement.Outcomes, result(s, o))
	}
	_, err = own.Settle(ctx, settlement)
	return err
}

// result is what the frontier learns of an outcome. A failure from before its
// collection was told to ask again is no final state, here as in the account.
func result(s *settings.Settings, o book.Outcome) frontier.Result {
	r := frontier.Result{
		ID:       o.Identity(),
		URL:      o.URL,
		State:    o.State,
		Depth:    o.Depth,
		Hops:     o.Hops,
		Attempts: o.Attempts,
		Exponent: o.Exponent,
	}
	if len(o.Collections) > 0 {
		r.Collection = o.Collections[0]
	}
	if o.State == book.Failed && s.AskAgain(r.Collection, o) {
		r.State, r.Attempts = book.Retry, 0
	}
	return r
}
