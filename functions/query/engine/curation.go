package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/curation"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// curated is the curation in force, in the form in which searches use it: words that find each other, pages
// that come first for a query, and pages that are hidden. It is immutable.
type curated struct {
	key  string                       // key of the version
	pins map[string][]layout.Identity // pinned pages of each query, by its folded text (see curation.Fold)
	bans []ban

	synonyms *search.Synonyms
}

// ban hides pages.
type ban struct {
	queries    []string // folded texts of the queries for which the pages are hidden; none: for all
	pages      map[layout.Identity]bool
	beginnings []string // beginnings of the addresses of further pages
}

// curation returns the curation in force. It is nil if there is none, which costs nothing. If its newest
// version is that of the snapshot last, it is taken from there; else it takes one GET. A curation that
// cannot be read is logged; searches then go on with the last one that could be read, or with none.
func (e *Engine) curation(ctx context.Context, inForce *settings.Settings, last *snapshot) *curated {
	if last.curated.isNewest(inForce) {
		return last.curated
	}
	n := len(inForce.Curations)
	if n == 0 {
		return nil
	}
	newest := inForce.Curations[n-1].Key
	found, err := curation.Among(ctx, e.bucket, inForce.Curations)
	if err == nil {
		err = found.Lost()
	}
	if err != nil {
		e.Log.ErrorContext(ctx, "searches go on without the newest synonyms, pinned and banned results: bucketsearch verify says more", "key", newest, "error", err)
		return last.curated
	}
	for _, d := range found.Damaged {
		e.Log.WarnContext(ctx, "a version of the synonyms, pinned and banned results is damaged", "error", d.String())
	}
	version := layout.CurationKey(found.Version) // older than the newest if that is damaged, which is then read again each time
	if last.curated != nil && last.curated.key == version {
		return last.curated
	}
	return newCurated(version, found.Document)
}

// isNewest reports whether c is the curation of the newest version in the settings.
func (c *curated) isNewest(inForce *settings.Settings) bool {
	n := len(inForce.Curations)
	if c == nil || n == 0 {
		return c == nil && n == 0
	}
	return c.key == inForce.Curations[n-1].Key
}

func newCurated(key string, d curation.Document) *curated {
	c := &curated{key: key, pins: make(map[string][]layout.Identity)}
	if len(d.Synonyms) > 0 {
		var sets []search.SynonymSet
		for _, s := range d.Synonyms {
			sets = append(sets, search.SynonymSet(s))
		}
		c.synonyms = search.NewSynonyms(sets)
	}
	for _, p := range d.Pins {
		for _, query := range p.Queries {
			for _, page := range p.Pages {
				if a, err := address.Parse(page); err == nil { // nil: the document is valid
					c.pins[curation.Fold(query)] = append(c.pins[curation.Fold(query)], a.ID)
				}
			}
		}
	}
	for _, b := range d.Bans {
		to := ban{pages: make(map[layout.Identity]bool)}
		for _, query := range b.Queries {
			to.queries = append(to.queries, curation.Fold(query))
		}
		for _, page := range b.Pages {
			beginning, is := curation.Prefix(page)
			a, err := address.Parse(beginning)
			switch {
			case err != nil: // never: the document is valid
			case is:
				to.beginnings = append(to.beginnings, a.URL)
			default:
				to.pages[a.ID] = true
			}
		}
		c.bans = append(c.bans, to)
	}
	return c
}

// curate sets the documents of an opened segment that each ban hides, unless they are known. It reads the
// segment's column of identities, and for beginnings of addresses the documents that they may cover.
func (o *opened) curate(ctx context.Context, by *curated, unvisited bool) error {
	if by == o.curated {
		return nil
	}
	o.curated, o.banned = by, nil
	if by == nil || len(by.bans) == 0 {
		return nil
	}
	ids, err := o.segment.Identities(ctx)
	if err != nil {
		return err
	}
	part := search.Part{Segment: o.segment, Dead: o.dead, Unvisited: unvisited}
	for _, b := range by.bans {
		hidden := roaring.New()
		for doc, id := range ids {
			if b.pages[id] {
				hidden.Add(uint32(doc))
			}
		}
		for _, beginning := range b.beginnings {
			of, err := part.Beginning(ctx, beginning)
			if err != nil {
				return err
			}
			hidden.Or(of)
		}
		o.banned = append(o.banned, hidden)
	}
	return nil
}

// hiddenFor returns the numbers of the bans that hide pages for a folded query, besides those that hide
// pages for all queries.
func (c *curated) hiddenFor(query string) (bans []int) {
	if c == nil {
		return nil
	}
	for i, b := range c.bans {
		if slices.Contains(b.queries, query) {
			bans = append(bans, i)
		}
	}
	return bans
}

// always returns the numbers of the bans that hide pages for all queries.
func (c *curated) always() (bans []int) {
	if c == nil {
		return nil
	}
	for i, b := range c.bans {
		if len(b.queries) == 0 {
			bans = append(bans, i)
		}
	}
	return bans
}

// searched returns the index in which a query is searched: one without the pages that are banned for it.
func (s *snapshot) searched(query string, e *Engine) (*search.Index, error) {
	bans := s.curated.hiddenFor(curation.Fold(query))
	if len(bans) == 0 {
		return s.unbanned, nil
	}
	ix, err := s.indexWithout(append(bans, s.curated.always()...), e)
	if err != nil {
		return nil, fmt.Errorf("cannot leave out banned pages: %w", err)
	}
	return ix, nil
}

// deadOf returns the documents of a segment that are dead, or hidden by one of the bans.
func (o *opened) deadOf(bans []int) *roaring.Bitmap {
	if len(bans) == 0 || len(o.banned) == 0 {
		return o.dead
	}
	dead := roaring.New()
	if o.dead != nil {
		dead = o.dead.Clone()
	}
	for _, n := range bans {
		dead.Or(o.banned[n])
	}
	return dead
}

// apply sets the parts of a query that the curation decides.
func (c *curated) apply(q *search.Query) {
	if c != nil {
		q.Pinned, q.Synonyms = c.pins[curation.Fold(q.Text)], c.synonyms
	}
}

// Unindexed returns those of the given addresses whose pages are not in the index, or are hidden from all
// results.
func (e *Engine) Unindexed(ctx context.Context, pages []string) (absent []string, err error) {
	if len(pages) == 0 {
		return nil, nil
	}
	current, err := e.snapshots.get(ctx, e)
	if err != nil {
		return nil, err
	}
	has, err := current.unbanned.Has(ctx)
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		if a, err := address.Parse(page); err != nil || !has(a.ID) {
			absent = append(absent, page)
		}
	}
	return absent, nil
}
