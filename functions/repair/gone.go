package repair

import (
	"context"
	"errors"

	"github.com/bucketsearch/bucketsearch/functions/segments"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// listGone, the last edit of a commit, has the list of gone pages say what the
// books do, so that nothing is found again that is indexed anew or lost its
// mask, and that pages are shown of which no book says any more that they are
// gone. Books that cannot be read are taken off in another round, and the list
// stays until then.
func (m *mending) listGone(ctx context.Context, next *manifest.Manifest) error {
	pages, err := segments.Gone(ctx, m.Bucket, next)
	if errors.Is(err, book.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
		return nil
	}
	next.Gone = pages
	return err
}
