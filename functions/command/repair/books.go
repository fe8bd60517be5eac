package repair

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// mendBook takes a book that is lost off the list. What was listed wrongly is
// listed as it is.
func (m *mending) mendBook(ctx context.Context, key string) error {
	i := slices.IndexFunc(m.base().Books, func(b manifest.Book) bool { return b.Key == key })
	if i < 0 {
		return nil
	}
	content, found, err := m.get(ctx, key)
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
	m.unbooked[key] = true
	m.edits = append(m.edits, func(_ context.Context, e *partition.Edit) error { e.UnlistBook(key); return nil })
	m.said = append(m.said, key+" is lost and off the list; what it told of is fetched again")
	return nil
}

// relistBook lists a sound book once, as it is.
func (m *mending) relistBook(sound manifest.Book) {
	m.edits = append(m.edits, func(_ context.Context, e *partition.Edit) error { e.RelistBook(sound); return nil })
	m.said = append(m.said, sound.Key+" was listed wrongly, and is listed as it is")
}
