package fetch

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/text/topic"
)

// share adds further collections to the outcome of a page that is not stored: those
// that claim the page whatever its topic. So none of them requests the page again,
// and each gets the link to the place where the page is instead. share skips a
// page that only the settings of one collection forbid.
func (r *run) share(i int) {
	o, t := &r.ledger.Outcomes[i], r.batch.Targets[i]
	if t.Sitemap || o.State != book.Skipped && o.State != book.Failed {
		return
	}
	others := r.behalf.kept(t)
	if !membership.WasUnasked(*o) {
		others = append(others, r.claiming(i).sure...)
	}
	o.Collections = together(o.Collections, others...)
}

// claims are the collections that claim a page (see membership.Members): those in sure
// whatever the page's topic, those in topical if the page is on their topic.
type claims struct{ sure, topical []string }

func (r *run) claiming(i int) *claims {
	if r.claims[i] == nil {
		t := r.batch.Targets[i]
		sure, topical := r.behalf.settings.Claiming(r.targets[i], t.Depth, t.Hops)
		r.claims[i] = &claims{sure, topical}
	}
	return r.claims[i]
}

// kept returns the collections of a target's last look that still exist.
func (b behalf) kept(t batch.Target) []string {
	if t.Last == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Last.Collections), b.isNone)
}

// storedLook returns the last look at a target, or nil when the page was never stored:
// such a last look has only collections.
func storedLook(t batch.Target) *batch.Look {
	if t.Last != nil && t.Last.Digest == 0 && !t.Sitemap {
		return nil
	}
	return t.Last
}

// confirmable returns the last look at a target if a 304 may confirm the page: all
// collections that ask for it or claim it have it. Else it returns nil.
func confirmable(t batch.Target, claiming []string) *batch.Look {
	last := storedLook(t)
	lacks := func(name string) bool { return !slices.Contains(last.Collections, name) }
	if last == nil || slices.ContainsFunc(t.Collections, lacks) || slices.ContainsFunc(claiming, lacks) {
		return nil
	}
	return last
}

// collections returns the collections for which the page is stored.
func (p page) collections(read *document.Document) []string {
	all := together(p.target.Collections, append(p.behalf.kept(p.target), p.sure...)...)
	for _, name := range p.topical {
		if !slices.Contains(all, name) && p.isAbout(name, read) {
			all = append(all, name)
		}
	}
	return together(all)
}

func (p page) isAbout(name string, read *document.Document) bool {
	return p.behalf.topicOf(name).Page(read.Title, read.Visible()) >= p.behalf.settings.Collection(name).Topic.Threshold
}

// together returns the names of collections in the form of an outcome: the first
// name, then all others, sorted, each once, at most as many as a book allows.
func together(names []string, others ...string) []string {
	all := slices.Concat(names, others)
	if len(all) == 0 {
		return nil
	}
	others = all[1:]
	slices.Sort(others)
	others = slices.DeleteFunc(slices.Compact(others), func(name string) bool { return name == all[0] })
	return all[:min(1+len(others), book.MaxCollections)]
}

// behalf holds those parts of the settings that are needed to send requests on behalf
// of collections.
type behalf struct {
	settings *settings.Settings
	topics   *topics
	agent    string // of collections that have none
	allowed  allowed
	log      *slog.Logger
}

// behalf returns the settings for the targets. It fails if they cannot be read.
// It reads them again when a target's collection is newer than the cached
// settings: else links would have no weight, and addresses that the collection
// allows would be refused for good.
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

func (b behalf) isNone(name string) bool { return b.settings.Collection(name).Version == 0 }

func (b behalf) agentOf(name string) string {
	if agent := b.settings.AgentOf(name); agent != "" {
		return agent
	}
	return b.agent
}

// topicOf returns the topic of a collection, nil if it has none.
func (b behalf) topicOf(name string) *topic.Topic {
	return b.topics.of(b.settings.Collection(name), b.log)
}

// topics caches the topics of collections; each version is built once. It is safe
// for concurrent use; the zero value is ready to use.
type topics struct {
	mu    sync.Mutex // protects built
	built map[string]builtTopic
}

type builtTopic struct {
	version uint64
	topic   *topic.Topic
}

// of returns the topic of a collection, nil if it has none. A topic that cannot be
// built, which was published by mistake, matches no page.
func (t *topics) of(c collection.Collection, log *slog.Logger) *topic.Topic {
	if c.Topic == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, found := t.built[c.Name]; found && known.version == c.Version {
		return known.topic
	}
	built, err := topic.New(c.Topic.Words, c.Topic.Texts, c.Language)
	if err != nil { // once: its zero value is kept
		log.Warn("no page can be on the topic of a collection", "collection", c.Name, "version", c.Version, "error", err)
	}
	if t.built == nil {
		t.built = map[string]builtTopic{}
	}
	t.built[c.Name] = builtTopic{c.Version, &built}
	return &built
}

// weigh sets the weights of a page's links by the topic, from the page's relevance
// and weight. A redirect or canonical link gets the weight of the page itself.
func weigh(t *topic.Topic, links []book.Link, relevance float32, own uint8) {
	hope := topic.Inherit(relevance, float32(own)/255)
	for i := range links {
		switch l := &links[i]; l.Kind {
		case book.Asset: // has no topic
		case book.Redirect, book.Canonical:
			l.Weight = own
		default:
			l.Weight = weight(t.Link(l.Anchor, l.Around, l.Target, hope))
		}
	}
}

// weight returns a share from 0 to 1 as the weight of a link.
func weight(share float32) uint8 { return uint8(max(1, math.Round(float64(share)*255))) }
