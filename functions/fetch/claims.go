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

// share gives the outcome of a page that is not stored to all whose it would be
// whatever it were about, so that none of them asks for it once more, and the
// link to where it is instead is one of each. But what the settings of one keep
// from being asked for may be had for another.
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

// claims are the collections of which a page is one, see membership.Members.
type claims struct{ sure, topical []string }

func (r *run) claiming(i int) *claims {
	if r.claims[i] == nil {
		t := r.batch.Targets[i]
		sure, topical := r.behalf.settings.Claiming(r.targets[i], t.Depth, t.Hops)
		r.claims[i] = &claims{sure, topical}
	}
	return r.claims[i]
}

// kept returns the collections that the last look at a target was for, and that
// there still are.
func (b behalf) kept(t batch.Target) []string {
	if t.Last == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Last.Collections), b.isNone)
}

// had returns the last look at a target, nil if it brought nothing: that of a
// page which was never stored tells only for which collections it was.
func had(t batch.Target) *batch.Look {
	if t.Last != nil && t.Last.Digest == 0 && !t.Sitemap {
		return nil
	}
	return t.Last
}

// confirmable returns the last look at a target if what it brought may stay as it
// is: no collection lacks it of those that ask for it or claim it. Else it is nil.
func confirmable(t batch.Target, claiming []string) *batch.Look {
	last := had(t)
	lacks := func(name string) bool { return !slices.Contains(last.Collections, name) }
	if last == nil || slices.ContainsFunc(t.Collections, lacks) || slices.ContainsFunc(claiming, lacks) {
		return nil
	}
	return last
}

// collections returns those for which the page is stored.
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

// together returns names as an outcome has them: the first, then the others
// and more of them, sorted, each once, and no more than a book takes.
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

func (b behalf) isNone(name string) bool { return b.settings.Collection(name).Version == 0 }

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

// topics are those of collections, each built once a version. They are safe
// for concurrent use; the zero topics are ready.
type topics struct {
	mu    sync.Mutex // protects built
	built map[string]builtTopic
}

type builtTopic struct {
	version uint64
	topic   *topic.Topic
}

// of returns the topic of a collection, nil if it wants pages of any. One that
// says nothing is a topic that no page has: it was published by mistake.
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

// weigh gives the links of a page their weights by the topic, from the page's
// relevance and its own weight. What is the same page elsewhere weighs as much
// as the page itself.
func weigh(t *topic.Topic, links []book.Link, relevance float32, own uint8) {
	hope := topic.Inherit(relevance, float32(own)/255)
	for i := range links {
		switch l := &links[i]; l.Kind {
		case book.Image: // is not asked for
		case book.Redirect, book.Canonical:
			l.Weight = own
		default:
			l.Weight = weight(t.Link(l.Anchor, l.Around, l.Target, hope))
		}
	}
}

// weight returns a share from 0 to 1 as the weight of a link.
func weight(share float32) uint8 { return uint8(max(1, math.Round(float64(share)*255))) }
