package pack

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// decide cleans the target of every link, writes the decision into it and
// returns the URLs that are admitted by crawl partition, each once, by its
// shortest way. A link to what is forgotten must not go on record.
func decide(s *settings.Settings, links []book.Link) (map[int][]frontier.Entry, error) {
	s.CleanLinks(links)
	d := decider{settings: s, targets: make(map[string]address.Address), entries: make(map[string]frontier.Entry)}
	for i := range links {
		if err := d.link(&links[i]); err != nil {
			return nil, err
		}
	}
	admitted := make(map[int][]frontier.Entry)
	for _, url := range slices.Sorted(maps.Keys(d.entries)) { // the same order every time
		crawl, err := s.Crawl.Decide(d.targets[url])
		if err != nil {
			return nil, err
		}
		admitted[crawl] = append(admitted[crawl], d.entries[url])
	}
	return admitted, nil
}

type decider struct {
	settings *settings.Settings
	targets  map[string]address.Address // parsed once
	entries  map[string]frontier.Entry  // admitted
}

func (d *decider) link(l *book.Link) error {
	if l.Kind == book.Image {
		l.Decision = "image"
		return nil
	}
	target, known := d.targets[l.Target]
	if !known {
		var err error
		if target, err = address.Parse(l.Target); err != nil {
			return fmt.Errorf("target %q of a link: %w", l.Target, err)
		}
		d.targets[l.Target] = target
	}
	l.Decision = d.settings.Decide(l.Collection, target, l.Depth, l.Hops)
	if l.Decision != "" {
		return nil
	}
	shortest, found := d.entries[l.Target]
	if !found || l.Depth < shortest.Depth || l.Depth == shortest.Depth && l.Hops < shortest.Hops {
		d.entries[l.Target] = frontier.Entry{
			URL: l.Target, ID: target.ID, Host: target.Host,
			Depth: l.Depth, Hops: l.Hops, Collection: l.Collection,
		}
	}
	return nil
}
