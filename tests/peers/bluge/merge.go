package main

import (
	"errors"
	"io"
	"time"

	"github.com/RoaringBitmap/roaring"
	api "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"

	"github.com/bucketsearch/bucketsearch/tests/peers/corpus"
)

// Merge implements corpus.Merger. It makes ice segments (bluge's format) of 1,000 pages each,
// and measures the time of merging them into one.
func (peer) Merge(next func() (corpus.Page, error)) (size int64, took time.Duration, err error) {
	const batch = 1000 // pages of a segment
	var parts []api.Segment
	var pages []api.Document
	flush := func() error {
		if len(pages) == 0 {
			return nil
		}
		part, _, err := ice.New(pages, func(_ string, length int) float32 { return float32(length) })
		if err != nil {
			return err
		}
		written, err := ice.Merge([]api.Segment{part}, []*roaring.Bitmap{nil}, 1<<16).WriteTo(io.Discard, nil)
		parts, pages, size = append(parts, part), nil, size+written
		return err
	}
	for {
		p, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, 0, err
		}
		d := document(p)
		d.Analyze()
		if pages = append(pages, d); len(pages) == batch {
			if err := flush(); err != nil {
				return 0, 0, err
			}
		}
	}
	if err := flush(); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	_, err = ice.Merge(parts, make([]*roaring.Bitmap, len(parts)), 1<<16).WriteTo(io.Discard, nil)
	return size, time.Since(began), err
}
