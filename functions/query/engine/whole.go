package engine

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// mostWhole is the greatest size, in bytes, of a segment that is read by one request. Otherwise a query needs about four
// requests for a segment, most of them one after another: for the tail, terms, columns and results. Three of them cost as
// much as 90 ms of a function with 1 GB of memory, and two mebibytes arrive in 26 ms. All segments of the smallest size
// class are read whole, and some of the next (see segments.DefaultLimits).
const mostWhole = 2 << 20

// sourceOf returns the source from which a segment of a size in bytes is read.
func (e *Engine) sourceOf(size int64) segment.Source {
	if size > 0 && size <= mostWhole {
		return wholeObject{e.ranges, size}
	}
	return e.ranges
}

// wholeObject is a source of objects of one size. It reads an object by a single request, whatever ranges are wanted,
// and takes later ranges from the cache.
type wholeObject struct {
	cache *rangecache.Cache
	size  int64 // in bytes
}

// Read implements segment.Source.
func (w wholeObject) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	content, err := w.cache.Read(ctx, key, []blob.Range{{Length: w.size}})
	if err != nil {
		return nil, err
	}
	return segment.Bytes(content[0]).Read(ctx, key, ranges)
}
