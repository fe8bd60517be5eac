package engine

import (
	"context"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Version is a stored copy of a page: the present one, or a past one that can still be read.
type Version struct {
	Downloaded time.Time
	AsOf       time.Time // moment for which Page returns this copy; zero for the present copy
}

// Versions returns the stored copies of a page that can be read, the newest first. It looks them up in the
// books (files that record the outcome of each request of the crawl).
//
// The field AsOf of a past copy is the time at which the next copy was downloaded. At that moment, the index
// still had the past copy, because the next one had yet to be packed and indexed. Copies whose AsOf is
// longer ago than manifest.Keep are left out. Books that are damaged are left out, too, and books that were
// merged may lack past copies.
func (e *Engine) Versions(ctx context.Context, a address.Address) ([]Version, error) {
	if err := e.refuse(ctx, a); err != nil {
		return nil, err
	}
	current, err := e.snapshots.get(ctx, e)
	if err != nil {
		return nil, err
	}
	books, _, err := openBooks(ctx, cachedObjects{e.bucket, e.ranges}, current.manifests)
	if err != nil {
		return nil, err
	}
	outcomes, err := books.Find(ctx, a.Place, a.ID)
	if err != nil {
		return nil, err
	}
	var all []Version
	for _, o := range outcomes {
		if o.State == book.Stored {
			all = append(all, Version{Downloaded: o.Time})
		}
	}
	slices.SortFunc(all, func(a, b Version) int { return b.Downloaded.Compare(a.Downloaded) })
	for i := 1; i < len(all); i++ {
		all[i].AsOf = all[i-1].Downloaded
		if e.Now().Sub(all[i].AsOf) >= manifest.Keep {
			return all[:i], nil
		}
	}
	return all, nil
}

// Mark marks the words of a query, and their synonyms, in texts of a page, such as its paragraphs. The
// parameter language is the language of the page. The result has the fragments of each text, in the order of
// texts.
func (e *Engine) Mark(ctx context.Context, q search.Query, language string, texts []string) ([][]search.Fragment, error) {
	current, err := e.snapshots.get(ctx, e)
	if err != nil {
		return nil, err
	}
	current.curated.apply(&q)
	return current.index.Mark(q, language, texts), nil
}
