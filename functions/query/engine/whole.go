package engine

import (
	"bytes"
	"context"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// mostWhole is the greatest size, in bytes, of a segment that is read by one request. Otherwise a query needs about four
// requests for a segment, three of them one after another: for the tail, terms, columns and results. The three take 190 ms
// in all, and this size arrives in 170 ms, of which 63 ms are for the first byte. So whoever reads it whole waits no longer,
// and saves three requests, which cost as much as 90 ms of a function with 1 GB of memory. All segments of the two
// smallest size classes are read whole (see segments.DefaultLimits).
const mostWhole = 8 << 20

// mostLinks is the same as mostWhole for overlays of anchors and of unvisited URLs. By ranges, a query takes two requests
// for one, for the tail and for terms, while it waits for those of segments. So only one request is saved, in whose
// price 2.4 MB arrive.
const mostLinks = 2 << 20

// wholes are the segments, and overlays of anchors and of unvisited URLs, that are read whole. They take at most an eighth
// of the cache: all of them are read by the first query of a new process, and if the cache had evicted one, any range of it
// would cost a transfer of the whole object. So the other small segments of a large index are read by ranges.
type wholes struct {
	most int64 // greatest sum of their sizes, in bytes

	mu    sync.Mutex       // protects the fields below
	sizes map[string]int64 // in bytes, by key
	sum   int64            // of sizes
}

// admit reports whether the object with this key and size, in bytes, is read whole: it is not larger than most, and there is
// room for it, or it was admitted before.
func (w *wholes) admit(key string, size, most int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, before := w.sizes[key]; before {
		return true
	}
	if size <= 0 || size > most || w.sum+size > w.most {
		return false
	}
	w.sizes[key] = size
	w.sum += size
	return true
}

// retain makes room: it drops the objects that the snapshot does not list.
func (w *wholes) retain(newest *snapshot) {
	listed := make(map[string]bool)
	for key, o := range newest.segments {
		listed[key], listed[o.anchored] = true, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, size := range w.sizes {
		if !listed[key] {
			delete(w.sizes, key)
			w.sum -= size
		}
	}
}

// sourceOf returns the source from which the object with this key and size, in bytes, is read. The parameter most is the
// greatest size of such an object that is read whole: mostWhole or mostLinks.
func (e *Engine) sourceOf(key string, size, most int64) segment.Source {
	if e.wholes.admit(key, size, most) {
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

// Read implements segment.Source. It returns copies: what is kept of a range must not keep the whole object in memory.
func (w wholeObject) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	content, err := w.cache.Read(ctx, key, []blob.Range{{Length: w.size}})
	if err != nil {
		return nil, err
	}
	parts, err := segment.Bytes(content[0]).Read(ctx, key, ranges)
	for i := range parts {
		parts[i] = bytes.Clone(parts[i])
	}
	return parts, err
}
