package repair

import (
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// mendBook removes a missing or damaged book (object with outcomes and links) from the manifest,
// and copies damaged bytes to quarantine. If the book is sound, it corrects the manifest's entry
// for it.
func (m *mending) mendBook(ctx context.Context, key string) error {
	i := slices.IndexFunc(m.Manifest().Books, func(b manifest.Book) bool { return b.Key == key })
	if i < 0 {
		return nil
	}
	content, found, err := blob.Find(ctx, m.Bucket, key)
	if err != nil {
		return err
	}
	if found && layout.BookKey(m.ID(), layout.ContentHash(content)) == key {
		if learnt, err := book.Decode(content); err == nil {
			m.relistBook(manifest.Book{Key: key, Bytes: int64(len(content)), Outcomes: len(learnt.Outcomes), Links: len(learnt.Links)})
			return nil
		}
	}
	if found {
		if err := m.remove(ctx, key, content); err != nil {
			return err
		}
	}
	m.lostBooks[key] = true
	m.edit(func(e *partition.Edit) { e.UnlistBook(key) })
	m.said = append(m.said, key+" is lost and off the list; what it told of is fetched again")
	return nil
}

// relistBook corrects the manifest's entry for a book (object with outcomes and links) that is not
// damaged.
func (m *mending) relistBook(sound manifest.Book) {
	m.edit(func(e *partition.Edit) { e.RelistBook(sound) })
	m.said = append(m.said, sound.Key+" was listed wrongly, and is listed as it is")
}

// findLost records which URLs must be fetched again. The stored page of such a URL is damaged or was
// in a lost package, or the URL has no outcome (result of a fetch) any more because a book of
// outcomes is lost. findLost reads the partition's outcomes twice. The first time it finds suspects:
// URLs that may have to be fetched again (see the type suspect). The second time it collects all
// outcomes of each suspect, and decides by them.
func (m *mending) findLost(ctx context.Context) error {
	suspects, err := m.suspects(ctx)
	if err != nil || len(suspects) == 0 {
		return err
	}
	err = m.outcomes(ctx, func(o book.Outcome) {
		if s, found := suspects[o.Identity()]; found {
			s.Add(&o)
		}
	})
	if err != nil {
		return err
	}
	for _, s := range suspects {
		switch {
		case s.Final == nil:
			m.takeBack(s.url, "the book that told of its page is lost")
		case s.Page != nil && s.Final.State != book.Skipped && s.Final.State != book.Failed && m.broken(s.Page):
			m.takeBack(s.url, "its page is damaged or gone")
		}
	}
	return nil
}

// suspect is a URL that may have to be fetched again. Either its page cannot be read, or a package has
// a page of the URL but no readable outcome names this page: then a lost book may have had its outcome.
type suspect struct {
	book.Standing
	url string
}

// suspects returns the suspects of the partition (see the type suspect), by the identity of their
// URLs. The field Standing of each suspect is empty: the caller adds the outcomes of the URL to it.
func (m *mending) suspects(ctx context.Context) (map[layout.Identity]*suspect, error) {
	suspects := make(map[layout.Identity]*suspect)
	type place struct {
		pkg    uint32
		offset int64
	}
	named := make(map[place]bool)
	err := m.outcomes(ctx, func(o book.Outcome) {
		if o.State != book.Stored {
			return
		}
		if m.broken(&o) {
			suspects[o.Identity()] = &suspect{url: o.URL}
		}
		if in := m.Manifest().Package(o.Package); len(m.lostBooks) > 0 && in != nil {
			named[place{in.ID, o.Offset}] = true
		}
	})
	if err != nil || len(m.lostBooks) == 0 {
		return suspects, err
	}
	for _, in := range m.Manifest().Packages {
		pages, err := m.list(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, page := range pages {
			if !named[place{in.ID, page.Offset}] {
				suspects[layout.IdentityOf(page.URL)] = &suspect{url: page.URL}
			}
		}
	}
	return suspects, nil
}

// list lists the pages of a package. It returns none if the package is lost.
func (m *mending) list(ctx context.Context, in manifest.Package) ([]webobject.Listed, error) {
	if p, found := m.faulty[in.ID]; found && p.gone {
		return nil, nil
	}
	return webobject.List(ctx, m.Bucket, in.Key)
}

// broken reports whether the page to which an outcome refers cannot be read: the page is damaged,
// or its package is lost.
func (m *mending) broken(o *book.Outcome) bool {
	if len(m.faulty) == 0 || o.State != book.Stored {
		return false
	}
	in := m.Manifest().Package(o.Package)
	if in == nil {
		return false
	}
	p, found := m.faulty[in.ID]
	return found && (p.gone || p.broken[o.Offset])
}

// outcomes calls the function visit with each outcome in the books of the partition, except lost
// books. Callers use it to look for lost pages and lost outcomes. If no package is faulty and no book
// is lost, no page or outcome can be lost. Then the method reads no book and does not call visit.
func (m *mending) outcomes(ctx context.Context, visit func(book.Outcome)) error {
	if len(m.faulty) == 0 && len(m.lostBooks) == 0 {
		return nil
	}
	listed := slices.DeleteFunc(slices.Clone(m.Manifest().Books), func(b manifest.Book) bool { return m.lostBooks[b.Key] })
	books, err := partition.OpenBooks(ctx, m.Bucket, listed)
	if err != nil {
		return err
	}
	readers, err := books.Readers()
	if err != nil {
		return err
	}
	for _, reader := range readers {
		for o, err := range reader.Outcomes(ctx, layout.Range{}) {
			if err != nil {
				return fmt.Errorf("cannot look for what is lost: %w", err)
			}
			visit(o)
		}
	}
	return nil
}
