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

// share completes the outcome of target i if the target was skipped or has failed: the outcome then
// counts for further collections, not only for those that requested the target. share adds their
// names to the outcome's list of collections. These collections do not request the target again. If
// the target is a redirect or an alias, each of them follows the link to the other address. share
// adds
//
//	collections in the outcome of the target's previous fetch (see batch.Look) that still exist
//	collections that claim the page whatever its topic (see claims); but none of these if the
//	target was skipped without a request (see membership.WasUnasked)
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

// claims has the names of the collections that claim a page: those to which the page belongs by
// their rules, even if it is not requested for them (see membership.Members). The collections in
// the field sure claim the page in any case. Those in the field topical have a topic, and claim the
// page only if it is about this topic.
type claims struct{ sure, topical []string }

// claiming returns the collections that claim target i (see claims). It computes them at the first
// call, and then remembers them.
func (r *run) claiming(i int) *claims {
	if r.claims[i] == nil {
		t := r.batch.Targets[i]
		sure, topical := r.behalf.settings.Claiming(r.targets[i], t.Depth, t.Hops)
		r.claims[i] = &claims{sure, topical}
	}
	return r.claims[i]
}

// kept returns the names of the collections to which the target belonged after its last fetch (see
// batch.Look). It leaves out collections that do not exist any more.
func (b behalf) kept(t batch.Target) []string {
	if t.Last == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Last.Collections), b.isNone)
}

// storedLook returns the result of the last fetch of a target (see batch.Look), or nil if the
// target has no stored page. It recognises a stored page by the digest (hash of the text) in the
// result. A sitemap is never stored: for it, storedLook returns the result in any case.
func storedLook(t batch.Target) *batch.Look {
	if t.Last != nil && t.Last.Digest == 0 && !t.Sitemap {
		return nil
	}
	return t.Last
}

// confirmable returns the result of the last fetch of a target (see batch.Look) if the next request
// may be conditional, else nil. A conditional request may bring the answer 304 (Not Modified) and
// no page. That suffices only if each collection that requests the page (t.Collections) or claims
// it (the parameter claiming; see claims) has the page already.
func confirmable(t batch.Target, claiming []string) *batch.Look {
	last := storedLook(t)
	lacks := func(name string) bool { return !slices.Contains(last.Collections, name) }
	if last == nil || slices.ContainsFunc(t.Collections, lacks) || slices.ContainsFunc(claiming, lacks) {
		return nil
	}
	return last
}

// collections returns the names of the collections for which the page is stored: the collections
// for which it was requested, those that had it before, and those that claim it (see claims).
func (p page) collections(read *document.Document) []string {
	all := together(p.target.Collections, append(p.behalf.kept(p.target), p.sure...)...)
	for _, name := range p.topical {
		if !slices.Contains(all, name) && p.isAbout(name, read) {
			all = append(all, name)
		}
	}
	return together(all)
}

// isAbout reports whether the page is on the topic of the named collection.
func (p page) isAbout(name string, read *document.Document) bool {
	return p.behalf.topicOf(name).Page(read.Title, read.Visible()) >= p.behalf.settings.Collection(name).Topic.Threshold
}

// together returns all collections of both parameters, each once, in the order that
// book.Outcome.Collections requires: the very first collection stays first, and all others follow,
// sorted by name. It returns at most book.MaxCollections.
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

// behalf holds the parts of the settings that fetch needs to send requests on behalf of
// collections.
type behalf struct {
	settings *settings.Settings
	topics   *topics
	agent    string  // User-Agent for collections whose settings have none
	allowed  allowed // addresses that are not public, but allowed by at least one collection
	log      *slog.Logger
}

// behalf returns the settings by which fetch requests the targets. It takes them from a cache. A
// collection of a target may be newer than the cache. Then behalf reads the settings again. Without
// this, the links of the new collection would get no weight, and addresses that only this
// collection allows would be refused for good. behalf fails if the settings cannot be read.
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

// isNone reports whether the settings have no collection with the name.
func (b behalf) isNone(name string) bool { return b.settings.Collection(name).Version == 0 }

// agentOf returns the User-Agent for requests on behalf of the named collection.
func (b behalf) agentOf(name string) string {
	if agent := b.settings.AgentOf(name); agent != "" {
		return agent
	}
	return b.agent
}

// topicOf returns the topic of the named collection, or nil if it has none.
func (b behalf) topicOf(name string) *topic.Topic {
	return b.topics.of(b.settings.Collection(name), b.log)
}

// topics caches the topics of collections. A topic is built again only when the collection has a
// new version. topics is safe for concurrent use; the zero value is ready to use.
type topics struct {
	mu    sync.Mutex // protects built
	built map[string]builtTopic
}

type builtTopic struct {
	version uint64
	topic   *topic.Topic
}

// of returns the topic of a collection, or nil if it has none. If the settings of the topic are
// invalid, it logs the error and returns a topic that matches no page.
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
	if err != nil { // logged only once, because the zero topic is kept
		log.Warn("no page can be on the topic of a collection", "collection", c.Name, "version", c.Version, "error", err)
	}
	if t.built == nil {
		t.built = map[string]builtTopic{}
	}
	t.built[c.Name] = builtTopic{c.Version, &built}
	return &built
}

// weigh sets the weights of a page's links by how well they fit the topic. It uses the texts of the
// links, the relevance of the page (0 to 1), and the weight of the page's URL (0 to 255, the
// parameter own). A redirect or canonical link gets the same weight as the page's URL. A link to an
// asset gets no weight.
func weigh(t *topic.Topic, links []book.Link, relevance float32, own uint8) {
	hope := topic.Inherit(relevance, float32(own)/255)
	for i := range links {
		switch l := &links[i]; l.Kind {
		case book.Asset: // an asset has no topic
		case book.Redirect, book.Canonical:
			l.Weight = own
		default:
			l.Weight = weight(t.Link(l.Anchor, l.Around, l.Target, hope))
		}
	}
}

// weight converts a relevance (the parameter share), from 0 to 1, into a weight from 1 to 255.
func weight(share float32) uint8 { return uint8(max(1, math.Round(float64(share)*255))) }
