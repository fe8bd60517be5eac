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

// DefaultCollection is the collection of the command line's seeds.
const DefaultCollection = "default"

// Plan is what the command line asks to crawl.
type Plan struct {
	Collections     []collection.Collection // of files, each with a name of its own
	Seeds           []collection.Seed       // and what follows: of DefaultCollection
	Delay           time.Duration
	HostConnections int
	MaxPages        int64 // more than are stored for DefaultCollection now; 0: no limit
	// Renew makes stored pages due: of the collections in the plan, or all pages
	// if it has none.
	Renew bool
	// Only makes all URLs of other collections and earlier seeds wait.
	Only bool
}

// Empty reports whether the plan asks for nothing.
func (p Plan) Empty() bool { return len(p.Seeds)+len(p.Collections) == 0 && !p.Renew }

// Plan publishes what to crawl. Call it before Run. The collection of a file replaces that
// of the same name. Seeds are added to those of earlier crawls, which keep their scopes.
// Failed URLs are requested again, and pages as Plan.Renew says. Sample pages of a topic
// are downloaded; if one fails, nothing is published.
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
		limited := c.Name == DefaultCollection && c.Pages > 0 // which was for the crawl that asked for it
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

// described returns the collections with an agent, and with the texts of their topics'
// sample pages. It publishes nothing.
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

// fits returns an error if there would be more collections than a page can have.
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

// planSeeds publishes the collection of the command line's seeds.
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
			next.Pages += int64(status.Stored)
		}
	}
	return s.publish(ctx, next)
}

// renew returns the time before which looks at pages are outdated: now, or the time that
// was published before, so that a stopped crawl continues.
func (p Plan) renew(before collection.Collection, now time.Time) time.Time {
	if p.Renew {
		return now
	}
	return before.Renew
}

// named returns the collection with a name; the zero Collection if there is none.
func named(all []collection.Collection, name string) (collection.Collection, bool) {
	i := slices.IndexFunc(all, func(c collection.Collection) bool { return c.Name == name })
	if i < 0 {
		return collection.Collection{}, false
	}
	return all[i], true
}

// publish publishes a collection with its seeds cleaned, as links to them are.
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
