package system

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// DefaultCollection is the name of the collection of the command line's seeds.
const DefaultCollection = "default"

// Plan holds the collections and seeds of a command line, and its options for their crawl.
type Plan struct {
	Collections     []collection.Collection // collections from files, no two with the same name
	Seeds           []collection.Seed       // seeds of DefaultCollection; the next three fields apply to this collection
	Delay           time.Duration
	HostConnections int
	MaxPages        int64 // number of pages to store besides those that are stored now; 0: no limit
	// Renew means that stored pages are requested again now: those of the collections in the
	// plan or, if the plan has none, of all collections.
	Renew bool
	// Only limits the crawl to the collections and seeds of the plan. All other URLs wait until a
	// plan without Only follows. A URL of DefaultCollection waits, too, if only seeds of earlier
	// plans lead to it.
	Only bool
}

// Empty reports whether the plan has no seeds and no collections, and does not set Renew.
func (p Plan) Empty() bool { return len(p.Seeds)+len(p.Collections) == 0 && !p.Renew }

// Plan publishes the collections of a plan. Call it before Run. A collection from a file
// replaces the published one with the same name. Seeds of the plan are added to the seeds that
// DefaultCollection has already; the scopes of the old seeds do not change. Failed URLs of the
// planned collections are requested again; if Plan.Renew is set, stored pages are, too. Where a
// collection describes its topic by sample pages, Plan first downloads them. If a download fails,
// Plan publishes nothing.
func (s *System) Plan(ctx context.Context, p Plan) error {
	published, err := collection.LoadAll(ctx, s.Bucket)
	if err != nil {
		return err
	}
	if p.Renew && len(p.Seeds)+len(p.Collections)+len(published) == 0 {
		return fmt.Errorf("%w into %s", ErrEmpty, s.store.url)
	}
	transport := s.vitals.Traffic().Transport(fetch.Transport(s.options.AllowPrivate))
	defer transport.CloseIdleConnections()
	planned, err := newSamples(transport).describe(ctx, p.Collections, s.options.Agent)
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
		if _, err := publishCleaned(ctx, s.Bucket, c); err != nil {
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
		if _, err := publishCleaned(ctx, s.Bucket, c); err != nil {
			return err
		}
	}
	return nil
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

// planSeeds publishes DefaultCollection with the plan's delay and limits. It adds the plan's seeds to
// those that the collection has, also to those that another process adds at the same time.
func (s *System) planSeeds(ctx context.Context, p Plan, published []collection.Collection, now time.Time) error {
	pages := p.MaxPages
	if _, found := named(published, DefaultCollection); found && pages > 0 {
		// All URLs are counted: a number that lacks some would make the limit too low.
		status, err := readStatus(ctx, s.Bucket, countblob.Counts{}, DefaultCollection, census.Extent{})
		if err != nil {
			return err
		}
		if len(status.Faults) > 0 {
			return fmt.Errorf("cannot tell how many pages are stored, to which --pages adds: %s", status.Faults[0])
		}
		pages += int64(status.Stored - status.Assets)
	}
	_, err := collection.Change(ctx, s.Bucket, DefaultCollection, func(before collection.Collection) (collection.Collection, error) {
		next := before.With(p.Seeds)
		next.Name, next.Pages = DefaultCollection, pages
		next.Delay, next.HostConnections = collection.Duration(p.Delay), p.HostConnections
		next.Agent, next.Again, next.Renew = s.options.Agent, now, p.renew(before, now)
		return withCleanSeeds(next)
	})
	return err
}

// renew returns the new value of Collection.Renew for a collection of the plan. This value is a time:
// stored pages that were last requested before it are requested again. If the plan sets Renew, the
// value is the present time. Otherwise it is the value in the published collection. So if a crawl
// with Renew was interrupted, a later crawl without Renew requests the rest of the pages.
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

// publishCleaned publishes a collection with cleaned seeds (see withCleanSeeds), and returns the version in force.
func publishCleaned(ctx context.Context, bucket blob.Bucket, c collection.Collection) (collection.Collection, error) {
	c, err := withCleanSeeds(c)
	if err != nil {
		return c, err
	}
	return collection.Publish(ctx, bucket, c)
}

// withCleanSeeds returns the collection without certain query parameters (such as session ids) in the URLs of its
// seeds. They are removed by the same rules by which the crawl removes them from links, so that a link to a
// seed leads to the URL of the seed.
func withCleanSeeds(c collection.Collection) (collection.Collection, error) {
	admission, err := c.Rules()
	if err != nil {
		return c, err
	}
	seeds := slices.Clone(c.Seeds)
	for i, seed := range seeds {
		at, err := collection.ParseSeed(seed.URL)
		if err != nil {
			return c, err
		}
		seeds[i].URL = admission.Clean(at).URL
	}
	c.Seeds = nil
	return c.With(seeds), nil
}

// Choose publishes which collections and seeds are crawled from now on: only those of the plan
// if Plan.Only is set, otherwise all.
func (s *System) Choose(ctx context.Context, p Plan) error {
	only, err := p.only()
	if err == nil {
		_, err = control.Change(ctx, s.Bucket, func(d *control.Document) bool {
			changed := !reflect.DeepEqual(d.Only, only)
			d.Only = only
			return changed
		})
	}
	if err != nil {
		return fmt.Errorf("cannot choose what is crawled: %w", err)
	}
	return nil
}

// only returns the collections and seeds to which the plan limits the crawl; nil if the plan
// does not limit it.
func (p Plan) only() (*control.Only, error) {
	if !p.Only {
		return nil, nil
	}
	var only control.Only
	for _, c := range p.Collections {
		only = append(only, control.Chosen{Collection: c.Name})
	}
	if len(p.Seeds) == 0 {
		return &only, nil
	}
	admission, err := collection.Collection{Seeds: p.Seeds}.Rules()
	if err != nil {
		return nil, err
	}
	some := control.Chosen{Collection: DefaultCollection}
	for _, seed := range p.Seeds {
		at, err := collection.ParseSeed(seed.URL)
		if err != nil {
			return nil, err
		}
		some.Seeds = append(some.Seeds, admission.Clean(at).URL) // in the form in which planSeeds publishes it
	}
	only = append(only, some)
	return &only, nil
}
