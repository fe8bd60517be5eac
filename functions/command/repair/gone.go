package repair

import (
	"context"
	"errors"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// listGone, the last edit of a commit, has the list of gone pages say what the
// books do, so that nothing is found again that is indexed anew or lost its
// mask, and that pages are shown of which no book says any more that they are
// gone. Books that cannot be read are taken off in another round, and the list
// stays until then.
func (m *mending) listGone(ctx context.Context, e *partition.Edit) error {
	pages, err := segments.Gone(ctx, m.Bucket, e.Manifest(), m.elsewhere)
	if errors.Is(err, book.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
		return nil
	}
	if err == nil {
		e.SetGone(pages)
	}
	return err
}
