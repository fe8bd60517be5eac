package fetch

import (
	"log/slog"
	"math"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/text/topic"
)

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
