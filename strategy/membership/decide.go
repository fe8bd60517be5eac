package membership

import (
	"errors"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// The reasons for which Decide refuses a URL, besides those of package collection.
const (
	NoCollection = "no collection"
	OffTopic     = "off topic"
	Refused      = "refused by strategy"
	NoPartition  = "no partition"
	Forgotten    = "forgotten" // a takedown forgets the URL; such a URL is not recorded
	Asset        = "asset"     // pages use the URL only as an asset, and their collections store no assets
	Mail         = "mail address"
)

// maxSitemapDepth is the greatest depth of a sitemap. Sitemaps listed by a sitemap index
// have depth 1; an index that is listed by an index is not followed further
// (https://www.sitemaps.org/protocol.html#index).
const maxSitemapDepth = 1

// Decide returns "" if a collection admits a URL that was found, else the reason of the refusal. The
// path of links w leads from a seed of the collection to the URL. Decide also refuses a URL that a
// takedown forgets, a mail address, and a URL to which the crawl or storage strategy gives no partition.
// A sitemap is admitted on any site.
func (s *Members) Decide(w Path, target address.Address) string {
	if s.Takedowns.Forgets(target) {
		return Forgotten
	}
	if target.IsMail() {
		return Mail
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

// decide returns "" if this collection admits the target of the path, else the reason of the
// refusal. Unlike Decide, it does not consider takedowns (lists of forgotten URLs) and strategies
// (rules that give each URL a partition).
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
	if w.Kind == book.Asset && !m.Assets {
		return Asset
	}
	reason := m.decidePage(w, target)
	if reason == "" || w.Kind != book.Asset {
		return reason
	}
	return m.Admission.DecideAsset(target, w.Hops)
}

func (m member) decidePage(w Path, target address.Address) string {
	if reason := m.Admission.Decide(target, w.Depth, w.Hops); reason != "" {
		return reason
	}
	if m.isOffTopic(w) {
		return OffTopic
	}
	return ""
}

// IsAssetOnly reports whether a URL can only be an asset of pages for these collections: one
// of them stores assets, and none would admit the URL as a page. The parameter w is the path
// to the URL. Its Collection and Kind are ignored.
func (s *Members) IsAssetOnly(collections []string, target address.Address, w Path) bool {
	w.Kind = book.Anchor
	return s.WantAssets(collections...) && !slices.ContainsFunc(collections, func(name string) bool {
		m, found := s.byName[name]
		return found && m.decidePage(w, target) == ""
	})
}

// WantAssets reports whether any of these collections stores the assets of its pages.
func (s *Members) WantAssets(collections ...string) bool {
	return slices.ContainsFunc(collections, func(name string) bool {
		m, found := s.byName[name]
		return found && m.Assets
	})
}

// isOffTopic reports whether the weight of the path's last link is too low for the
// collection's topic. Seeds are never off topic, because a person has chosen them. Targets of
// redirects and canonical addresses are never off topic, because the URL that led to them was not.
func (m member) isOffTopic(w Path) bool {
	chosen := w.Depth == 0 || w.Kind == book.Redirect || w.Kind == book.Canonical
	return m.Topic != nil && !chosen && float32(w.Weight)/255 < m.Topic.Threshold
}
