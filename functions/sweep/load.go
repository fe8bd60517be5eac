package sweep

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// shareSize is how many URLs a frontier takes at once; some may wait while it
// does.
const shareSize = 2000

// share is a part of what one crawl partition's frontier holds.
type share struct {
	known   []frontier.Known
	due     []frontier.Due // of the known ones
	pending []frontier.Entry
}

// load judges every URL once and hands it to the frontier of its crawl
// partition, if that is one of these. The frontiers take what they are handed
// beside each other and beside the judging.
func (f *Function) load(ctx context.Context, books *account.Bucket, fronts map[int]*frontier.Frontier, a *agenda) (urls, pending int, err error) {
	group, ctx := errgroup.WithContext(ctx)
	queues := make(map[int]chan share, len(fronts))
	for crawl, front := range fronts {
		queue := make(chan share, 2)
		queues[crawl] = queue
		group.Go(func() error {
			for part := range queue {
				if err := front.Mark(ctx, part.known); err != nil {
					return err
				}
				if _, err := front.Renew(ctx, f.Now(), part.due); err != nil {
					return err
				}
				if _, err := front.Admit(ctx, f.Now(), part.pending); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() (err error) {
		urls, pending, err = divide(ctx, books, queues, a)
		return err
	})
	err = group.Wait()
	return urls, pending, err
}

// divide fills the queues, and closes them when it returns. It ends with ctx.
func divide(ctx context.Context, books *account.Bucket, queues map[int]chan share, a *agenda) (urls, pending int, err error) {
	shares := make(map[int]*share, len(queues))
	for crawl, queue := range queues {
		shares[crawl] = new(share)
		defer close(queue)
	}
	hand := func(crawl int) error {
		select {
		case queues[crawl] <- *shares[crawl]:
			*shares[crawl] = share{}
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for u, err := range books.All() {
		if err != nil {
			return urls, pending, err
		}
		crawl, err := a.settings.Crawl.Decide(u.Address)
		own := shares[crawl]
		if err != nil || own == nil {
			continue // refused by the strategy since, or no business of these frontiers
		}
		switch {
		case u.State == account.Pending:
			pending++
			own.pending = append(own.pending, entry(u))
		case u.Final.State != 0:
			own.known = append(own.known, known(a.settings, u))
			if u.Admitted && a.isDue(u.Final) {
				own.due = append(own.due, renewal(u.Address, u.Final))
			}
		default:
			continue
		}
		urls++
		if len(own.known)+len(own.pending) >= shareSize {
			if err := hand(crawl); err != nil {
				return urls, pending, err
			}
		}
	}
	for crawl := range queues {
		if err := hand(crawl); err != nil {
			return urls, pending, err
		}
	}
	return urls, pending, nil
}

func entry(u account.URL) frontier.Entry {
	return frontier.Entry{
		URL: u.Address.URL, ID: u.Address.ID, Host: u.Address.Host,
		Depth: u.Depth, Hops: u.Hops, Weight: u.Weight, Sitemap: u.Sitemap,
		Attempts: u.Attempts, Exponent: u.Final.Exponent, Collection: u.Collection,
	}
}

// known is what pack settles: a page counts on the limits of the collection for
// which it was stored.
func known(s *settings.Settings, u account.URL) frontier.Known {
	k := frontier.Known{ID: u.Address.ID, State: u.Final.State, Version: u.Final.Version, Depth: u.Final.Depth}
	if u.State == account.Stored && len(u.Final.Collections) > 0 {
		for _, limit := range s.Limits(u.Final.Collections[0], u.Address) {
			k.Tallies = append(k.Tallies, limit.Tally)
		}
	}
	return k
}
