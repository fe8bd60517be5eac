package fetch

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/topic"
)

// behalf is what the settings say of asking on behalf of collections.
type behalf struct {
	settings *settings.Settings
	topics   *topics
	agent    string // of collections that have none
	allow    Allow
	log      *slog.Logger
}

// behalf returns what the settings say of the targets. It fails if they cannot be
// read. Those in the cache may be older than a collection of a target: then links
// would have no weight, and what it allows would be refused for good.
func (f *Function) behalf(ctx context.Context, targets []batch.Target) (behalf, error) {
	inForce, err := f.Settings.Get(ctx)
	if err == nil && slices.ContainsFunc(targets, func(t batch.Target) bool { return isNew(inForce, t.Collections) }) {
		inForce, err = settings.Read(ctx, f.Settings.Bucket)
	}
	if err != nil {
		return behalf{}, fmt.Errorf("cannot read the settings: %w", err)
	}
	allow, err := ParseAllow(inForce.Allow())
	return behalf{settings: inForce, topics: &f.topics, agent: f.Agent, allow: allow, log: f.Log}, err
}

func isNew(s *settings.Settings, collections []string) bool {
	return slices.ContainsFunc(collections, func(name string) bool { return s.Collection(name).Version == 0 })
}

// agentOf returns the User-Agent with which to ask for a collection.
func (b behalf) agentOf(name string) string {
	if agent := b.settings.AgentOf(name); agent != "" {
		return agent
	}
	return b.agent
}

// topicOf returns the topic of a collection, nil if it wants pages of any.
func (b behalf) topicOf(name string) *topic.Topic {
	return b.topics.of(b.settings.Collection(name), b.log)
}
