package pack

import (
	"context"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
)

// gonePages returns the pages that were stored and are no more: of those the
// final outcome has the digest of what was stored.
func gonePages(spools []spool.Spool) (gone []manifest.Gone) {
	for i := range spools {
		for _, o := range spools[i].Ledger.Outcomes {
			if o.Digest != 0 && (o.State == book.Failed || o.State == book.Skipped) {
				gone = append(gone, manifest.Gone{ID: o.Identity(), Version: o.Version})
			}
		}
	}
	return gone
}

// mask has the sweep look for documents of pages that are gone, if there are
// any.
func (f *Function) mask(ctx context.Context, p layout.Partition, gone []manifest.Gone) error {
	if len(gone) == 0 {
		return nil
	}
	return task.Send(ctx, f.Sender, task.Sweep, task.Mask{Gone: &p}, 0)
}
