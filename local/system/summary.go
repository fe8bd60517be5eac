package system

import (
	"context"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Summary is the result of a crawl: the status of the bucket, the numbers of pages that the crawl
// has stored, found unchanged or kept, and a Fate for each of its seeds.
type Summary struct {
	Status
	New       int    // number of pages stored since the crawl began, without assets: new or changed ones
	NewAssets int    // number of assets stored since the crawl began: new or changed ones
	Unchanged int    // number of stored pages requested again and found unchanged
	Kept      int    // number of stored pages that could not be fetched again, and stay stored
	Why       string // most frequent reason why pages that Kept counts could not be fetched
	Seeds     []Fate // result for each seed of the crawl
}

// Fate is the result of a crawl for one seed.
type Fate struct {
	Seed  string      // URL of the seed
	Final account.URL // state of the last URL in the chain of redirects from the seed; of the seed if there are none
}

// Stored reports whether the seed led to a stored page.
func (f Fate) Stored() bool { return f.Final.State == account.Stored }

// Redirected reports whether the seed leads to another address.
func (f Fate) Redirected() bool { return f.Final.Address.URL != f.Seed }

// Summarize returns the result of a crawl that followed the plan and began at the given time. It counts the URLs of
// those parts of the hash space that have seeds of the plan or outcomes since that time, and takes the numbers of the
// other parts from the last census. It saves the numbers, so that ReadStatus need not count.
func (s *System) Summarize(ctx context.Context, p Plan, began time.Time) (Summary, error) {
	inForce, err := readInForce(ctx, s.Bucket)
	if err != nil {
		return Summary{}, err
	}
	books, err := account.Survey(ctx, s.Bucket, inForce)
	if err != nil {
		return Summary{}, err
	}
	last, err := census.Read(ctx, s.Bucket)
	if err != nil {
		return Summary{}, err
	}
	seeds, err := p.seedsOf(inForce)
	if err != nil {
		return Summary{}, err
	}
	var summary Summary
	reasons := make(map[string]int)
	began = began.Truncate(time.Millisecond)
	near := make(map[layout.Identity]account.URL) // URLs of depth 0: seeds, and targets of their redirects
	counted, err := last.Update(ctx, s.Bucket, books, inForce, time.Now(), census.Extent{
		Again: func(p *census.Part) bool {
			return !p.Last.Before(began) ||
				slices.ContainsFunc(seeds, func(at address.Address) bool { return p.Contains(at.Place) })
		},
		Each: func(u account.URL) {
			if u.State == account.Stored && !u.Final.Time.Before(began) {
				switch {
				case u.Final.State == book.Stored && u.Final.Asset:
					summary.NewAssets++
				case u.Final.State == book.Stored:
					summary.New++
				case u.Final.Reason == "":
					summary.Unchanged++
				default:
					summary.Kept++
					reasons[u.Final.Reason]++
				}
			}
			if u.Depth == 0 {
				near[u.Address.ID] = u
			}
		},
	})
	if err == nil {
		err = counted.Save(ctx, s.Bucket, books)
	}
	if err != nil {
		return Summary{}, err
	}
	summary.Status = statusOf(books, counted, s.Requests(), "")
	for reason, n := range reasons {
		if most := reasons[summary.Why]; n > most || n == most && reason < summary.Why {
			summary.Why = reason
		}
	}
	find := func(at address.Address) (account.URL, bool, error) {
		if u, found := near[at.ID]; found {
			return u, true, nil
		}
		for u, err := range books.All(ctx, layout.Range{From: at.Place, To: at.Place + 1}) { // a redirect led to a part that was not counted again
			if err != nil || u.Address.ID == at.ID {
				return u, err == nil, err
			}
		}
		return account.URL{}, false, nil
	}
	for _, seed := range seeds {
		fate, err := fateOf(inForce, find, seed)
		if err != nil {
			return Summary{}, err
		}
		summary.Seeds = append(summary.Seeds, fate)
	}
	return summary, nil
}

// seedsOf returns the addresses of all seeds of the plan, as they are crawled under these settings.
func (p *Plan) seedsOf(s *settings.Settings) (seeds []address.Address, err error) {
	for _, c := range append(slices.Clip(p.Collections), collection.Collection{Name: DefaultCollection, Seeds: p.Seeds}) {
		for _, seed := range c.Seeds {
			at, err := collection.ParseSeed(seed.URL)
			if err != nil {
				return nil, err
			}
			seeds = append(seeds, s.Clean(c.Name, at))
		}
	}
	return seeds, nil
}

// fateOf follows the redirects and canonical addresses that lead from a seed to other known
// URLs, and returns the state of the last one. The function find finds the state of a URL.
func fateOf(s *settings.Settings, find func(address.Address) (account.URL, bool, error), seed address.Address) (Fate, error) {
	at, fate := seed, Fate{Seed: seed.URL, Final: account.URL{Address: seed, State: account.Pending}}
	for range collection.MaxHops + 1 {
		u, found, err := find(at)
		if err != nil {
			return fate, err
		}
		if !found {
			break
		}
		fate.Final = u
		to, redirected := redirectOf(s, u)
		if !redirected {
			break
		}
		at = to
	}
	return fate, nil
}

// redirectOf returns the address to which a URL leads: the target of its redirect, or the canonical
// address that its page names. The bool is false if there is no such address. It is also false if
// the address is longer than book.MaxDetail, because outcomes keep only the beginning of such an
// address.
func redirectOf(s *settings.Settings, u account.URL) (address.Address, bool) {
	to, kind := membership.LeadsTo(u.Final), book.Redirect
	if u.State != account.Skipped || to == "" || len(u.Final.Detail) >= book.MaxDetail {
		return address.Address{}, false
	}
	if membership.IsAlias(u.Final) {
		kind = book.Canonical
	}
	link := book.Link{Source: u.Address.ID, Target: to, Kind: kind, Collection: u.Collection}
	links, err := s.Assign([]book.Link{link}, []membership.Page{{Outcome: &u.Final, Address: u.Address}}, nil)
	if err != nil {
		return address.Address{}, false
	}
	target, err := address.Parse(links[0].Target)
	return target, err == nil
}
