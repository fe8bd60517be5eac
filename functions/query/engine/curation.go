package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/curation"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// curated is the curation in force, in the form in which searches use it. A curation is what the operator
// sets to change results: synonyms, pages that come first for a query (pins), and pages that are hidden
// (bans). A curated is immutable.
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

// curation returns the curation in force, or nil if there is none; then nothing is read from the bucket. If
// the previous snapshot (the parameter last) has the newest version of the curation, that is returned.
// Otherwise it is read with one GET. If it cannot be read, curation logs this, and returns the one of the
// previous snapshot, which may be nil.
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
	for _, sentence := range found.Ignored {
		e.Log.WarnContext(ctx, "a part of the synonyms, pinned and banned results is ignored", "error", sentence)
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

// isNewest reports whether c is the newest version of the curation that the settings list. A nil c is the
// newest if they list none.
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

// curate computes, for each ban of the curation, which documents of the segment the ban hides, and stores the
// result in the field banned. It does nothing if o has the result for this curation already. A ban of one page is
// looked up by the identity of the page. A ban of all addresses with a certain beginning is compared with the
// documents whose addresses may have this beginning. The parameter unvisited says whether the segment is an
// overlay of unvisited URLs (known only by links).
func (o *opened) curate(ctx context.Context, by *curated, unvisited bool) error {
	if by == o.curated {
		return nil
	}
	o.curated, o.banned = by, nil
	if by == nil || len(by.bans) == 0 {
		return nil
	}
	var banned []layout.Identity
	for _, b := range by.bans {
		banned = slices.AppendSeq(banned, maps.Keys(b.pages))
	}
	found, err := o.segment.Find(ctx, banned)
	if err != nil {
		return err
	}
	part := search.Part{Segment: o.segment, Dead: o.dead, Unvisited: unvisited}
	for _, b := range by.bans {
		hidden := roaring.New()
		for _, d := range found {
			if b.pages[d.ID] {
				hidden.Add(d.Doc)
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

// hiddenFor returns the indexes in c.bans of the bans that hold for a query but not for all queries. The
// parameter query is the folded text of the query (see curation.Fold).
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

// always returns the indexes in c.bans of the bans that hold for all queries.
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

// searched returns the index in which a query is searched: an index without the pages that are banned for
// all queries or for this one. The parameter query is the text of the query.
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

// deadOf returns the documents of a segment that are left out of an index: those that are dead (replaced or
// erased), and those that one of the bans hides. The parameter bans has indexes in curated.bans.
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

// apply sets the pinned pages and the synonyms of a query. It does nothing if c is nil.
func (c *curated) apply(q *search.Query) {
	if c != nil {
		q.Pinned, q.Synonyms = c.pins[curation.Fold(q.Text)], c.synonyms
	}
}

// Unindexed returns those of the given addresses that no search can find: their pages are not in the index,
// or are banned for all queries. An address that cannot be parsed is among them.
func (e *Engine) Unindexed(ctx context.Context, pages []string) (absent []string, err error) {
	if len(pages) == 0 {
		return nil, nil
	}
	current, err := e.snapshots.get(ctx, e)
	if err != nil {
		return nil, err
	}
	ids := make([]layout.Identity, len(pages))
	for i, page := range pages {
		if a, err := address.Parse(page); err == nil {
			ids[i] = a.ID
		}
	}
	has, err := current.unbanned.Has(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, page := range pages {
		if !has[ids[i]] {
			absent = append(absent, page)
		}
	}
	return absent, nil
}
