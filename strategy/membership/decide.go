package membership

import (
	"errors"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// Reasons to refuse a URL beside those of package collection.
const (
	NoCollection = "no collection"
	OffTopic     = "off topic"
	Refused      = "refused by strategy"
	NoPartition  = "no partition"
	Forgotten    = "forgotten" // by a takedown; such a URL is not recorded
	Image        = "image"     // by which no page is found
)

// maxSitemapDepth admits the sitemaps that an index lists, and no index in an
// index (https://www.sitemaps.org/protocol.html#index).
const maxSitemapDepth = 1

// Decide returns "" if a URL with this path is crawled, else the reason of the
// refusal, which is recorded. An admitted URL has a crawl and a storage partition. A
// sitemap may be on any site.
func (s *Members) Decide(w Path, target address.Address) string {
	if s.Takedowns.Forgets(target) {
		return Forgotten
	}
	m, found := s.byName[w.Collection]
	if !found {
		return NoCollection
	}
	if reason := m.decide(w, target); reason != "" {
		return reason
	}
	for _, strategy := range []*rules.Document{&s.Crawl, &s.Storage} {
		switch _, err := strategy.Decide(target); {
		case errors.Is(err, rules.ErrRefused):
			return Refused
		case err != nil:
			return NoPartition
		}
	}
	return ""
}

func (m member) decide(w Path, target address.Address) string {
	if w.Kind == book.Sitemap {
		switch {
		case w.Hops > collection.MaxHops:
			return collection.TooMany
		case w.Depth > maxSitemapDepth:
			return collection.TooDeep
		}
		return ""
	}
	if reason := m.Admission.Decide(target, w.Depth, w.Hops); reason != "" {
		return reason
	}
	if m.isOffTopic(w) {
		return OffTopic
	}
	return ""
}

// isOffTopic reports whether the weight of a link is too low for the collection's
// topic. Seeds have no links; redirects and canonical addresses lead to pages that
// were chosen before.
func (m member) isOffTopic(w Path) bool {
	chosen := w.Depth == 0 || w.Kind == book.Redirect || w.Kind == book.Canonical
	return m.Topic != nil && !chosen && float32(w.Weight)/255 < m.Topic.Threshold
}
