package system

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// DefaultCollection is the name of the collection of the command line's seeds.
const DefaultCollection = "default"

// Plan holds the collections and seeds of a command line, and its options for their crawl.
type Plan struct {
	Collections     []collection.Collection // collections from files, no two with the same name
	Seeds           []collection.Seed       // seeds of DefaultCollection; the next three fields are its settings
	Delay           time.Duration
	HostConnections int
	MaxPages        int64 // number of pages to store besides those that are stored now; 0: no limit
	// Renew means that stored pages are requested again now: those of the collections in the
	// plan or, if the plan has none, of all collections.
	Renew bool
	// Only means that only the collections and seeds of the plan are crawled for now. The URLs of
	// other collections, and those that only earlier seeds lead to, wait until a plan without Only.
	Only bool
}

// Empty reports whether the plan has no seeds and no collections, and does not set Renew.
func (p Plan) Empty() bool { return len(p.Seeds)+len(p.Collections) == 0 && !p.Renew }

// Plan publishes the collections of a plan. Call it before Run. A collection from a file
// replaces the published one with the same name. Seeds of the plan are added to the published
// seeds of DefaultCollection, which keep their scopes. Failed URLs are requested again; if
// Plan.Renew is set, stored pages are, too. Plan downloads the sample pages of topics; if that
// fails for one, it publishes nothing.
func (s *System) Plan(ctx context.Context, p Plan) error {
	published, err := collection.LoadAll(ctx, s.Bucket)
	if err != nil {
		return err
	}
	if p.Renew && len(p.Seeds)+len(p.Collections)+len(published) == 0 {
		return fmt.Errorf("%w into %s", ErrEmpty, s.store.url)
	}
	planned, err := s.described(ctx, p.Collections)
	if err != nil {
		return err
	}
	if err := p.fits(published); err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	for _, c := range planned {
		before, _ := named(published, c.Name)
		c.Again, c.Renew = now, p.renew(before, now)
		if err := s.publish(ctx, c); err != nil {
			return err
		}
	}
	if err := s.Choose(ctx, p); err != nil {
		return err
	}
	if len(p.Seeds) > 0 {
		return s.planSeeds(ctx, p, published, now)
	}
	for _, c := range published {
		renewed := p.Renew && len(p.Collections) == 0
		limited := c.Name == DefaultCollection && c.Pages > 0 // --pages limited an earlier crawl only
		if _, planned := named(p.Collections, c.Name); planned || !renewed && !limited {
			continue
		}
		if limited {
			c.Pages = 0
		}
		if renewed {
			c.Again, c.Renew = now, now
		}
		if err := s.publish(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// described completes the collections of files. It sets the agent of those without one,
// and adds the texts of the sample pages of their topics, which it downloads.
func (s *System) described(ctx context.Context, files []collection.Collection) ([]collection.Collection, error) {
	samples := newSamples(s.vitals.Traffic().Transport(fetch.Transport(s.options.AllowPrivate)))
	defer samples.client.CloseIdleConnections()
	var all []collection.Collection
	for _, c := range files {
		if c.Agent == "" {
			c.Agent = s.options.Agent
		}
		c, err := samples.read(ctx, c)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// fits returns an error if there would be more than book.MaxCollections collections, counting the
// published ones and those of the plan.
func (p Plan) fits(published []collection.Collection) error {
	names := make(map[string]bool)
	for _, c := range slices.Concat(published, p.Collections) {
		names[c.Name] = true
	}
	if len(p.Seeds) > 0 {
		names[DefaultCollection] = true
	}
	if len(names) > book.MaxCollections {
		return fmt.Errorf("%d collections: want at most %d in a bucket; put seeds together, or use another bucket", len(names), book.MaxCollections)
	}
	return nil
}

// planSeeds publishes DefaultCollection, with the plan's seeds added to the published ones, and
// with the plan's delay and limits. The parameter published has the published collections.
func (s *System) planSeeds(ctx context.Context, p Plan, published []collection.Collection, now time.Time) error {
	before, _ := named(published, DefaultCollection)
	next := before.With(p.Seeds)
	next.Name = DefaultCollection
	next.Delay, next.HostConnections = collection.Duration(p.Delay), p.HostConnections
	next.Agent, next.Again, next.Renew = s.options.Agent, now, p.renew(before, now)
	next.Pages = 0
	if p.MaxPages > 0 {
		next.Pages = p.MaxPages
		if before.Name != "" {
			status, err := ReadStatus(ctx, s.Bucket, countblob.Counts{}, DefaultCollection)
			if err != nil {
				return err
			}
			if len(status.Faults) > 0 {
				return fmt.Errorf("cannot tell how many pages are stored, to which --pages adds: %s", status.Faults[0])
			}
			next.Pages += int64(status.Stored - status.Assets)
		}
	}
	return s.publish(ctx, next)
}

// renew returns the value of Collection.Renew for a collection of the plan. If the plan sets Renew,
// it is the parameter now. Otherwise it is the value in the parameter before, the published version
// of the collection, so that a crawl with Renew that was stopped goes on.
func (p Plan) renew(before collection.Collection, now time.Time) time.Time {
	if p.Renew {
		return now
	}
	return before.Renew
}

// named returns the collection with a name, and whether there is one.
func named(all []collection.Collection, name string) (collection.Collection, bool) {
	i := slices.IndexFunc(all, func(c collection.Collection) bool { return c.Name == name })
	if i < 0 {
		return collection.Collection{}, false
	}
	return all[i], true
}

// publish publishes a collection. From the seeds it removes the parameters that the
// collection drops in links, so that a link to a seed leads to the seed's URL.
func (s *System) publish(ctx context.Context, c collection.Collection) error {
	admission, err := c.Rules()
	if err != nil {
		return err
	}
	cleaned := make([]collection.Seed, len(c.Seeds))
	for i, seed := range c.Seeds {
		at, err := collection.ParseSeed(seed.URL)
		if err != nil {
			return err
		}
		cleaned[i] = seed
		cleaned[i].URL = admission.Clean(at).URL
	}
	c.Seeds = nil
	_, err = collection.Publish(ctx, s.Bucket, c.With(cleaned))
	return err
}
