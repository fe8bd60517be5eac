package sweep

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// raiseUndone sends the messages of undone work again:
//
//	a package that is not indexed             its event to the function index
//	a spool object that is not settled        its event to the function pack
//	spool objects that wait to be packed      a task to the function pack
func (p *swept) raiseUndone(ctx context.Context) error {
	for _, listed := range p.Manifest().Packages {
		if listed.Indexed {
			continue
		}
		if err := message.Raise(ctx, p.Sender, task.Index, listed.Key, listed.Bytes, p.Now()); err != nil {
			return err
		}
	}
	return p.raiseSpooled(ctx)
}

// raiseTogether sends the function index a task if small packages can be indexed together (see segments.Together), and
// the function merge one if segments can be merged (see segments.Limits). If the crawl has ended, there are fewer
// conditions for both; but as long as a batch waits to be packed, the crawl does not count as ended.
func (p *swept) raiseTogether(ctx context.Context) error {
	ended := p.ended
	if ended {
		waiting, err := frontier.NewInbox(p.Redis, p.ID()).Len(ctx)
		if err != nil {
			return err
		}
		ended = waiting == 0
	}
	if segments.Together(p.Manifest(), ended) != nil {
		if err := task.Send(ctx, p.Sender, task.Index, task.Together{Storage: p.ID(), Ended: ended}, 0); err != nil {
			return err
		}
	}
	if p.Limits.Tiers.Mergeable(p.Manifest(), ended) == nil {
		return nil
	}
	return task.Send(ctx, p.Sender, task.Merge, task.Tiers{Storage: p.ID(), Ended: ended}, 0)
}

// hasEnded reports whether no URL waits or is leased in any crawl partition. If a frontier is not built,
// it returns false.
func (f *Function) hasEnded(ctx context.Context, s *settings.Settings) (bool, error) {
	crawl := s.Crawl.Partitions()
	for _, partition := range crawl {
		switch err := frontier.New(f.Redis, partition).Built(ctx, s.Fingerprint()); {
		case errors.Is(err, frontier.ErrNotBuilt):
			return false, nil
		case err != nil && !errors.Is(err, frontier.ErrSettings):
			return false, err
		}
	}
	return frontier.Ended(ctx, f.Redis, crawl)
}

// raiseSpooled sends the function pack once more the events of spool objects whose batches are not
// settled (their outcomes are not in the frontier). Whether a batch is settled depends on where it
// is:
//
//	leased              it is not settled
//	in pack's inbox     it is settled if its entry in the inbox says so
//	in neither          it is settled if the manifest lists it as packed or closed
//
// If batches wait in the inbox, raiseSpooled also sends pack a task to pack them. If the leases are
// unknown (p.out is nil), it sends nothing.
func (p *swept) raiseSpooled(ctx context.Context) error {
	waiting, err := frontier.NewInbox(p.Redis, p.ID()).List(ctx)
	if err != nil || p.out == nil {
		return err
	}
	unsettled := make(map[layout.Version]blob.Object)
	settled := make(map[layout.Version]bool)
	for _, w := range waiting {
		if settled[w.Batch] = w.Settled; !w.Settled {
			unsettled[w.Batch] = blob.Object{Key: layout.SpoolKey(p.ID(), w.Batch), Size: w.Bytes}
		}
	}
	for _, object := range p.spooled {
		_, batch, err := layout.ParseSpoolKey(object.Key)
		if err != nil {
			p.Log.WarnContext(ctx, "foreign object in the spool", "partition", p.ID(), "error", err)
			continue
		}
		if p.out[batch] || !settled[batch] && !p.Manifest().HasConsumed(batch) && !p.Manifest().IsClosed(batch) {
			unsettled[batch] = object
		}
	}
	for _, batch := range slices.SortedFunc(maps.Keys(unsettled), layout.Version.Compare) {
		object := unsettled[batch]
		if err := message.Raise(ctx, p.Sender, task.Pack, object.Key, object.Size, p.Now()); err != nil {
			return err
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return task.Send(ctx, p.Sender, task.Pack, task.Gather{Storage: p.ID()}, 0)
}
