package fetch

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/text/topic"
)

// behalf is what the settings say of asking on behalf of collections.
type behalf struct {
	settings *settings.Settings
	topics   *topics
	agent    string // of collections that have none
	allowed  allowed
	log      *slog.Logger
}

// behalf returns what the settings say of the targets. It fails if they cannot be
// read. Those in the cache may be older than a collection of a target: then links
// would have no weight, and what it allows would be refused for good.
func (f *Function) behalf(ctx context.Context, targets []batch.Target) (on behalf, err error) {
	on = behalf{topics: &f.topics, agent: f.Agent, log: f.Log}
	isNew := func(t batch.Target) bool { return slices.ContainsFunc(t.Collections, on.isNone) }
	if on.settings, err = f.Settings.Get(ctx); err == nil && slices.ContainsFunc(targets, isNew) {
		on.settings, err = f.Settings.Renew(ctx)
	}
	if err != nil {
		return behalf{}, fmt.Errorf("cannot read the settings: %w", err)
	}
	on.allowed, err = parseAllowed(on.settings.Allow())
	return on, err
}

// isNone reports whether there is no collection of that name.
func (b behalf) isNone(name string) bool { return b.settings.Collection(name).Version == 0 }

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
