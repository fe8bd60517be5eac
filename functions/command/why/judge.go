package why

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/account"
)

// judge sets these fields of the story:
//
//	State, Reason   state of the URL, computed from its outcomes and the links to it
//	Due             time of the next request for the URL
//	Admitted        the rule that admits the URL
//	Seed            the collections of which the URL is a seed
func (t *teller) judge() error {
	books, err := account.New(t.settings)
	if err != nil {
		return err
	}
	for _, a := range t.story.Asked {
		books.Outcome(a.outcome)
	}
	for _, l := range t.links {
		books.Link(l)
	}
	for u, err := range books.All() {
		if err != nil {
			return err
		}
		if u.Address.ID != t.url.ID {
			continue
		}
		t.story.State, t.story.Reason = u.State, u.Reason
		t.story.page = u.Page
		if u.Admitted && u.State != account.Pending {
			t.story.Due = t.settings.Due(u.Final)
		}
		t.story.Admitted = t.rule(u)
	}
	t.story.Seed = t.settings.SeedOf(t.url)
	return nil
}

// rule returns the rule that admits the URL. For a sitemap this is the rule for sitemaps, else it is
// the first seed of the URL's collection whose scope contains the URL. rule returns nil if the URL is
// not admitted, or if a strategy has no partition for it.
func (t *teller) rule(u account.URL) *Rule {
	if !u.Admitted {
		return nil
	}
	crawl, errCrawl := t.settings.Crawl.Decide(t.url)
	storage, errStorage := t.settings.Storage.Decide(t.url)
	if errCrawl != nil || errStorage != nil {
		return nil
	}
	c := t.settings.Collection(u.Collection)
	if u.Sitemap {
		return &Rule{Collection: c.Name, Version: c.Version, Sitemap: true, Depth: u.Depth, Crawl: crawl, Storage: storage}
	}
	explainer, err := c.Explain()
	if err != nil {
		return nil
	}
	seed, found := explainer.Seed(t.url, u.Depth, u.Hops)
	if !found {
		return nil
	}
	return &Rule{c.Name, c.Version, seed.URL, seed.Scope, seed.Depth, false, u.Depth, crawl, storage}
}

// found sets Story.Links and Story.Found from the links to the URL. Found has the links of the
// smallest depth first.
func (t *teller) found() {
	slices.SortStableFunc(t.links, func(a, b book.Link) int { return int(a.Depth) - int(b.Depth) })
	t.story.Links = len(t.links)
	for _, l := range t.links[:min(maxFound, len(t.links))] {
		on, known := t.sources[l.Source]
		if !known {
			on = l.Source.String()
		}
		decision := "admitted"
		if l.Decision != "" {
			decision = l.Decision
		}
		t.story.Found = append(t.story.Found, Found{on, l.Kind, l.Anchor, l.Depth, l.Collection, decision})
	}
}

// stored adds the place of the stored page and its document to the story, and checks that
// the page can be read. A failure becomes a problem of the story.
func (t *teller) stored(ctx context.Context) {
	live := t.story.page
	if live == nil || live.Package == "" {
		return
	}
	for i := range t.manifests {
		m := &t.manifests[i]
		listed := m.Package(live.Package)
		if listed == nil {
			continue
		}
		at := Stored{Partition: m.Partition, Package: listed.Key, Offset: live.Offset, Length: live.Length, Indexed: listed.Indexed}
		t.story.Stored = &at
		page, err := webobject.Read(ctx, t.bucket, listed.Key, webobject.Place{Offset: live.Offset, Length: live.Length})
		if err == nil && page.URL != t.url.URL {
			err = fmt.Errorf("package %s holds another page at %d", listed.Key, live.Offset)
		}
		if err == nil {
			at.Bytes, at.MIME = len(page.Data), page.MIME
			err = t.indexed(ctx, m, listed.ID, &at)
		}
		if err != nil {
			t.problem(err)
		}
		return
	}
	t.problem(errors.New("no manifest lists its package " + live.Package))
}

// indexed finds the live document that was made of the stored page. It copies the key of its
// segment, its title and its language to the parameter at. If there is no such document, it changes
// nothing. The parameter id is the number of the page's package in the manifest.
func (t *teller) indexed(ctx context.Context, m *manifest.Manifest, id uint32, at *Stored) error {
	finder := segments.NewFinder(segment.Ranges{Bucket: t.bucket}, slices.Values([]layout.Identity{t.url.ID}))
	for i := range m.Segments {
		listed := &m.Segments[i]
		if _, _, found := listed.Part(id); !found {
			continue
		}
		matches, err := finder.Find(ctx, listed)
		if err != nil {
			return err
		}
		dead, err := partition.Dead(ctx, t.bucket, listed)
		if err != nil {
			return err
		}
		own := slices.IndexFunc(matches, func(d segment.Match) bool { return d.Version == t.story.page.Version && !dead.Contains(d.Doc) })
		if own < 0 {
			continue
		}
		at.Segment = listed.Key
		return t.document(ctx, at, listed, matches[own].Doc)
	}
	return nil
}

// document reads one document of a segment, and copies its title and language to the given Stored.
// The parameter doc is the number of the document in the segment.
func (t *teller) document(ctx context.Context, at *Stored, listed *manifest.Segment, doc uint32) error {
	opened, err := partition.OpenSegment(ctx, segment.Ranges{Bucket: t.bucket}, listed)
	if err != nil {
		return err
	}
	documents, err := opened.Stored(ctx, []uint32{doc})
	if err != nil {
		return fmt.Errorf("segment %s: %w", listed.Key, err)
	}
	sources, err := opened.Strings(ctx, segment.LanguageSources)
	if err != nil {
		return fmt.Errorf("segment %s: %w", listed.Key, err)
	}
	at.Title, at.Lang = documents[0].Title, documents[0].Lang
	if of := sources.Get(doc); len(of) > 0 {
		at.Source = of[0]
	}
	return nil
}

func (t *teller) problem(err error) { t.story.Problems = append(t.story.Problems, err.Error()) }
