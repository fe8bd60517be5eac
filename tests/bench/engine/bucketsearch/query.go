package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
)

// query runs the queries, one per line. For each it prints the time that it took in
// microseconds, and the number of hits.
func query(ctx context.Context, directory string, queries io.Reader) error {
	refs, err := list(directory)
	if err != nil {
		return err
	}
	cache, err := rangecache.New(store{root: directory}, rangecache.Options{Memory: ranges})
	if err != nil {
		return err
	}
	ix, err := open(ctx, cache, refs)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(queries); lines.Scan(); {
		began := time.Now()
		result, err := ix.Search(ctx, search.Query{Text: lines.Text(), Size: 10})
		if err != nil {
			return err
		}
		fmt.Println(time.Since(began).Microseconds(), len(result.Hits))
	}
	return cache.Close()
}

// memoryGB is the memory of the function query in Lambda, in GB. Lambda bills this memory
// multiplied by the running time.
const memoryGB = 0.5

// distant is the delay of each read in the benchmark cold: the median time of a GET to S3.
const distant = 63 * time.Millisecond

// cold runs each query twice on a store with slow reads: first when nothing has been read yet, then
// when the segments are open, but no postings have been read. For each query it prints a line with
// the figures of the first run, and then the same figures of the second:
//
//   - the time in microseconds
//   - the number of hits
//   - the numbers of requests and of bytes read
//   - the length of the longest chain of requests in which each waits for the one before
//   - the cost of a million such queries in USD
func cold(ctx context.Context, directory string, queries io.Reader) error {
	refs, err := list(directory)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(queries); lines.Scan(); {
		var cost [2]meter.Cost
		var took [2]time.Duration
		var result search.Result
		for opened := range cost {
			cache, err := rangecache.New(meter.Bucket(store{root: directory, delay: distant}), rangecache.Options{Memory: ranges})
			if err != nil {
				return err
			}
			m := new(meter.Meter)
			before, during := meter.With(ctx, new(meter.Meter)), meter.With(ctx, m)
			if opened == 0 {
				before = during
			}
			began := time.Now()
			ix, err := open(before, cache, refs)
			if err != nil {
				return err
			}
			if opened == 1 {
				began = time.Now()
			}
			if result, err = ix.Search(during, search.Query{Text: lines.Text(), Size: 10}); err != nil {
				return err
			}
			took[opened], cost[opened] = time.Since(began), m.Cost(meter.USEast1(), time.Since(began).Seconds()*memoryGB)
		}
		for i := range cost {
			fmt.Print(took[i].Microseconds(), " ", len(result.Hits), " ", cost[i].Requests, " ", cost[i].Bytes, " ", cost[i].DependentSteps, " ", cost[i].USD*1e6, " ")
		}
		fmt.Println()
	}
	return nil
}

// files is a segment.Source (the files of segments) that reads from a bucket without a cache.
type files struct{ blob.Reader }

func (f files) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	parts := make([][]byte, len(ranges))
	for i, r := range ranges {
		var err error
		if parts[i], err = f.Get(ctx, key, r); err != nil {
			return nil, err
		}
	}
	return parts, nil
}
