package repair

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/epoch"
)

// commit makes all true in one generation and returns how many URLs it takes
// back. Every edit holds for any later base too: it does nothing to what was
// replaced or taken off meanwhile. Where something is known no more, Learnt
// changes, so that frontiers find themselves behind.
func (m *mending) commit(ctx context.Context) (lost int, err error) {
	if len(m.edits) == 0 && len(m.lost) == 0 {
		return 0, nil
	}
	edits := m.edits
	if len(m.lost)+len(m.unbooked) > 0 {
		number, err := epoch.Claim(ctx, m.Bucket, []byte("repair "+rand.Text()+"\n"))
		if err != nil {
			return 0, err
		}
		edits = append(edits, func(_ context.Context, next *manifest.Manifest) error {
			next.Learnt = layout.EpochKey(number)
			return nil
		})
		if len(m.lost) > 0 {
			listed, err := m.putLost(ctx, number)
			if err != nil {
				return 0, err
			}
			edits = append(edits, func(_ context.Context, next *manifest.Manifest) error {
				next.Books = append(next.Books, listed)
				next.Learnt = listed.Key
				uncondemn(next, listed.Key)
				return nil
			})
			m.said = append(m.said, fmt.Sprintf("partition %s takes back what it knew of URLs that are fetched again: %d", m.base.Partition, len(m.lost)))
		}
	}
	edits = append(edits, m.listGone)
	_, err = manifest.Commit(ctx, m.Bucket, m.base.Partition, m.Now, func(next *manifest.Manifest) error {
		if m.Now().Sub(m.began) >= manifest.Fresh { // what was put may be deleted by now
			return fmt.Errorf("cannot repair partition %s: it took longer than %v; run it again", next.Partition, manifest.Fresh)
		}
		for _, edit := range edits {
			if err := edit(ctx, next); err != nil {
				return err
			}
		}
		return nil
	})
	return len(m.lost), err
}

// putLost puts a book that takes back what is lost, in an epoch above those of
// all other outcomes.
func (m *mending) putLost(ctx context.Context, epoch uint64) (manifest.Book, error) {
	var learnt book.Book
	for url, why := range m.lost {
		a, err := address.Parse(url)
		if err != nil {
			return manifest.Book{}, err
		}
		learnt.Outcomes = append(learnt.Outcomes, book.Outcome{
			Version: layout.Version{Epoch: epoch}, URL: url, Place: a.Place, State: book.Lost,
			Detail: strings.ToValidUTF8(why[:min(len(why), book.MaxDetail)], ""), Time: m.Now().UTC().Truncate(time.Millisecond),
		})
	}
	content, err := book.Encode(learnt)
	if err != nil {
		return manifest.Book{}, fmt.Errorf("cannot write book of partition %s: %w", m.base.Partition, err)
	}
	key := layout.BookKey(m.base.Partition, layout.ContentHash(content))
	if err := blob.CreateOnce(ctx, m.Bucket, key, content); err != nil {
		return manifest.Book{}, fmt.Errorf("cannot put book %s: %w", key, err)
	}
	return manifest.Book{Key: key, Bytes: int64(len(content)), Outcomes: len(learnt.Outcomes)}, nil
}
