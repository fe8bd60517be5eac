package repair

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/partition"
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
		number, err := epoch.Claim(ctx, m.Bucket, "repair", *m.base())
		if err != nil {
			return 0, err
		}
		edits = append(edits, func(_ context.Context, e *partition.Edit) error { e.Learn(layout.EpochKey(number)); return nil })
		if len(m.lost) > 0 {
			listed, err := m.putLost(ctx, number)
			if err != nil {
				return 0, err
			}
			edits = append(edits, func(_ context.Context, e *partition.Edit) error {
				e.Learn(listed.Key)
				return e.AddBook(listed)
			})
			m.said = append(m.said, fmt.Sprintf("partition %s takes back what it knew of URLs that are fetched again: %d", m.ID(), len(m.lost)))
		}
	}
	edits = append(edits, m.listGone)
	err = m.Commit(ctx, func(e *partition.Edit) error {
		for _, edit := range edits {
			if err := edit(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, partition.ErrStale) { // what was put may be deleted by now
		err = fmt.Errorf("cannot repair partition %s: it took longer than %v, or has changed; run it again", m.ID(), partition.Fresh)
	}
	return len(m.lost), err
}

// putLost puts a book that takes back what is lost, in an epoch above those of
// all other outcomes.
func (m *mending) putLost(ctx context.Context, epoch uint64) (partition.Book, error) {
	var learnt book.Book
	for url, why := range m.lost {
		a, err := address.Parse(url)
		if err != nil {
			return partition.Book{}, err
		}
		learnt.Outcomes = append(learnt.Outcomes, book.Outcome{
			Version: layout.Version{Epoch: epoch}, URL: url, Place: a.Place, State: book.Lost,
			Detail: strings.ToValidUTF8(why[:min(len(why), book.MaxDetail)], ""), Time: m.Now().UTC().Truncate(time.Millisecond),
		})
	}
	content, err := book.Encode(learnt)
	if err != nil {
		return partition.Book{}, fmt.Errorf("cannot write book of partition %s: %w", m.ID(), err)
	}
	return m.PutBook(ctx, content, len(learnt.Outcomes), 0)
}
