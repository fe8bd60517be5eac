package system

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

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
