package system

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// PublishStrategies publishes version 1 of the crawl strategy and of the storage strategy, of the given
// number of partitions, in a bucket that has none; the result published is true then. In any other bucket
// it publishes nothing, and it fails if the number is above 1 and no version of a strategy has had it.
func (a *Attached) PublishStrategies(ctx context.Context, partitions int) (published bool, err error) {
	published, err = publishStrategies(ctx, a.Bucket, partitions)
	return published, a.store.explain(err)
}

// publishStrategies does the work of PublishStrategies for the given bucket.
func publishStrategies(ctx context.Context, bucket blob.Bucket, partitions int) (published bool, err error) {
	if err := strategiesLost(ctx, bucket); err != nil {
		return false, err
	}
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		known, err := rules.LoadAll(ctx, bucket, kind, time.Now(), new(rules.Kept))
		had := func(d rules.Document) bool { return len(d.Partitions()) == partitions }
		if err == nil && partitions > 1 && !slices.ContainsFunc(known.Versions, had) {
			has := len(known.Versions[0].Partitions())
			return false, fmt.Errorf("--partitions %d is for a new bucket, and this one has %d; to divide it: bucketsearch strategy share %s %d", partitions, has, kind, partitions)
		}
		if errors.Is(err, blob.ErrAbsent) {
			err = rules.Publish(ctx, bucket, rules.Even(kind, max(1, partitions), time.Now()))
			published = err == nil
		}
		if err != nil && !errors.Is(err, blob.ErrExists) { // another program was first
			return false, fmt.Errorf("cannot publish %s strategy: %w", kind, err)
		}
	}
	return published, nil
}

// PublishCollections publishes collections that were read from files, and returns them as published. A
// collection replaces the published one with the same name. If it says the same, nothing is published:
// unlike Plan, PublishCollections has no URL requested again. Where a collection describes its topic by
// sample pages, these are downloaded first, and if a download fails, nothing is published. The parameter
// agent is the User-Agent of collections that have none.
func (a *Attached) PublishCollections(ctx context.Context, files []collection.Collection, agent string) ([]collection.Collection, error) {
	before, err := collection.LoadAll(ctx, a.Bucket)
	if err != nil {
		return nil, err
	}
	transport := fetch.Transport(false)
	defer transport.CloseIdleConnections()
	all, err := newSamples(transport).describe(ctx, files, agent)
	if err != nil {
		return nil, err
	}
	if err := (Plan{Collections: all}).fits(before); err != nil {
		return nil, err
	}
	for i, c := range all {
		known, _ := named(before, c.Name)
		c.Again, c.Renew = known.Again, known.Renew
		if all[i], err = publishCleaned(ctx, a.Bucket, c); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// AssistantCollection is the name of the collection of the seeds that AddSeed adds.
const AssistantCollection = "assistant"

// maxAssistantSeeds is the greatest number of seeds that AddSeed gives to AssistantCollection.
const maxAssistantSeeds = 1000

// AddSeed adds a seed to the collection AssistantCollection, which has only the seeds that language
// models add (see the command mcp). So a person sees what they added, and can remove it all at once.
// AddSeed only publishes the collection. It is crawled by the system that runs on the bucket or, if none
// runs, when the next one is started. If the collection has the seed already, AddSeed does nothing. The
// parameter agent is the User-Agent for the collection if it does not exist yet.
func (a *Attached) AddSeed(ctx context.Context, seed collection.Seed, agent string) error {
	published, err := collection.LoadAll(ctx, a.Bucket)
	if err != nil {
		return err
	}
	next, found := named(published, AssistantCollection)
	if !found {
		next = collection.Collection{Name: AssistantCollection, Delay: collection.Duration(time.Second), HostConnections: 1, Agent: agent}
	}
	if slices.ContainsFunc(next.Seeds, func(s collection.Seed) bool { return s.URL == seed.URL }) {
		return nil
	}
	if next = next.With([]collection.Seed{seed}); len(next.Seeds) > maxAssistantSeeds {
		return fmt.Errorf("the collection %s has %d addresses already, which is the limit; a person can end it: bucketsearch collections remove %[1]s", AssistantCollection, maxAssistantSeeds)
	}
	if err := (Plan{Collections: []collection.Collection{next}}).fits(published); err != nil {
		return err
	}
	_, err = publishCleaned(ctx, a.Bucket, next)
	return err
}
