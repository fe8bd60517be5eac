package forget

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Erase returns a book without what takedowns forget: the outcomes of forgotten URLs, the links from and to
// them, and the Details that name them. It returns nil if the book has nothing of it. The links of a page
// of a forgotten site are found by the outcome of the page, which must be in the same book. For what it
// reads, see book.Erase.
func Erase(ctx context.Context, r *book.Reader, set takedown.Set) (*book.Erased, error) {
	return book.Erase(ctx, r, book.Erasure{URL: set.ForgetsURL, Page: set.ForgetsID, Detail: New(set).namesForgotten, Within: set.Within()})
}
