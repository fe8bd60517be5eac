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
		return nil
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
	touched, err := f.admit(ctx, inForce, ledger)
	if err != nil {
		return err
	}
	// The outcomes come last: until then the crawl does not look finished.
	inbox := frontier.NewInbox(f.Redis, storage)
	waiting := frontier.Waiting{Batch: batch, Bytes: ledger.Stored, Pages: ledger.Pages, Since: f.Now()}
	if err := inbox.Add(ctx, waiting); err != nil {
		return err
	}
	if err := f.settleOutcomes(ctx, inForce, ledger); err != nil {
		return err
	}
	waiting.Settled = true
	if err := inbox.Add(ctx, waiting); err != nil {
		return err
	}
	for _, crawl := range slices.Sorted(maps.Keys(touched)) {
		if err := task.Send(ctx, f.Sender, task.Schedule, task.Lease{Crawl: crawl}, 0); err != nil {
			return err
		}
	}
	return f.Gather(ctx, task.Gather{Storage: storage})
}

// admit lets the links' targets wait and returns the crawl partitions that may
// have work now, the batch's own among them.
func (f *Function) admit(ctx context.Context, s *settings.Settings, ledger spool.Ledger) (map[int]bool, error) {
	admitted, err := decide(s, ledger.Links)
	if err != nil {
		return nil, err
	}
	touched := map[int]bool{ledger.Crawl: true}
	for _, crawl := range slices.Sorted(maps.Keys(admitted)) {
		touched[crawl] = true
		if _, err := frontier.New(f.Redis, crawl).Under(s.Fingerprint()).Admit(ctx, f.Now(), admitted[crawl]); err != nil {
			return nil, err
		}
	}
	return touched, nil
}

func (f *Function) settleOutcomes(ctx context.Context, s *settings.Settings, ledger spool.Ledger) error {
	rest, err := f.keepRobots(ctx, ledger)
	if err != nil {
		return err
	}
	delay, err := f.crawlDelay(ctx, ledger)
	if err != nil {
		return err
	}
	settlement := frontier.Settlement{
		Version: ledger.Batch,
		Host:    ledger.Host,
		Ended:   ledger.Ended,
		Delay:   max(s.Delay(), delay),
		Rest:    rest,
	}
	for _, o := range ledger.Outcomes {
		if s.Takedowns.ForgetsURL(o.URL) {
			continue // the frontier was built without it
		}
		settlement.Outcomes = append(settlement.Outcomes, result(s, o))
	}
	_, err = frontier.New(f.Redis, ledger.Crawl).Under(s.Fingerprint()).Settle(ctx, settlement)
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
