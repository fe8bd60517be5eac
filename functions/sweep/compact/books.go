package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

func (p *partition) openBooks(ctx context.Context, books []manifest.Book) ([]*book.Reader, error) {
	opened := make([]*book.Reader, len(books))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, listed := range books {
		group.Go(func() (err error) {
			opened[i], err = book.Open(ctx, p.Bucket, listed.Key)
			return err
		})
	}
	return opened, group.Wait()
}

// rewrite puts one book in place of others that say the same, or what is left
// of them, and returns its key. What the partition has learnt stays the same,
// so that no frontier is behind because of it.
func (p *partition) rewrite(ctx context.Context, old []manifest.Book, opened []*book.Reader, filter book.Filter) (key string, err error) {
	content, outcomes, links, err := book.Merge(ctx, opened, filter)
	if err != nil {
		return "", err
	}
	put := p.Now()
	key, size, err := p.putBook(ctx, content)
	if err != nil {
		return "", err
	}
	merged := manifest.Book{Key: key, Bytes: size, Outcomes: outcomes, Links: links}
	return key, p.commit(ctx, func(m *manifest.Manifest) error {
		return replaceBooks(m, old, merged, put, p.Now())
	})
}

// putBook puts a book, or another copy of it when its key is condemned or the
// bytes there are damaged. It returns the key and the size of what it put.
func (p *partition) putBook(ctx context.Context, content []byte) (key string, size int64, err error) {
	for number := uint32(1); ; number++ {
		key := layout.BookKey(p.id, layout.ContentHash(content))
		if !p.manifest.IsCondemned(key) {
			err := blob.CreateOnce(ctx, p.Bucket, key, content)
			if err == nil {
				return key, int64(len(content)), nil
			}
			if !errors.Is(err, blob.ErrExists) {
				return "", 0, fmt.Errorf("cannot put book %s: %w", key, err)
			}
		}
		content = book.Distinct(content, number)
	}
}

// replaceBooks lists a book, put at a moment, in place of others. It changes
// nothing when they are not listed any more, or when the book may not be: then
// another copy is made.
func replaceBooks(m *manifest.Manifest, old []manifest.Book, merged manifest.Book, put, now time.Time) error {
	at := func(key string) int {
		return slices.IndexFunc(m.Books, func(b manifest.Book) bool { return b.Key == key })
	}
	var gone []string
	for _, b := range old {
		if at(b.Key) < 0 {
			return manifest.ErrUnchanged
		}
		if b.Key != merged.Key {
			gone = append(gone, b.Key)
		}
	}
	if len(gone) == 0 || !m.MayList(merged.Key, now.Sub(put)) {
		return manifest.ErrUnchanged
	}
	if at(merged.Key) < 0 {
		m.Books = slices.Insert(m.Books, at(old[0].Key), merged)
	}
	m.Books = slices.DeleteFunc(m.Books, func(b manifest.Book) bool { return slices.Contains(gone, b.Key) })
	m.Condemn(now, gone...)
	return nil
}
