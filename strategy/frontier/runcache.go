package frontier

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
	"github.com/bucketsearch/bucketsearch/layout/run"
)

const (
	// mostDirectories is the greatest number of runs whose directories a RunCache keeps: those of 268 million URLs, with
	// some 50 KB each.
	mostDirectories = 256
	mostBlocks      = 32 << 20 // greatest size of the blocks of runs that a RunCache keeps, in bytes: those of 1.8 million URLs
)

// RunCache keeps what a process has read of runs: the lists of runs, the directories of the runs, and blocks. A process
// that settles many batches so reads them once, and not for each batch. All frontiers that use one must have the same Redis
// and the same bucket. The zero value is ready to use. It is safe for concurrent use.
type RunCache struct {
	mu     sync.Mutex
	lists  map[int]*atomic.Pointer[string] // the field Frontier.runs, by crawl partition
	runs   map[string]*run.Reader          // by key; those that are listed no more stay until there are too many
	blocks *rangecache.Cache               // nil before the first read
}

// WithRunCache lets f use what c keeps, and returns f.
func (f *Frontier) WithRunCache(c *RunCache) *Frontier {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lists == nil {
		c.lists = make(map[int]*atomic.Pointer[string])
	}
	if c.lists[f.partition] == nil {
		c.lists[f.partition] = f.runs
	}
	f.cache, f.runs = c, c.lists[f.partition]
	return f
}

// open returns a reader of a run.
func (c *RunCache) open(ctx context.Context, bucket blob.Reader, key string) (*run.Reader, error) {
	c.mu.Lock()
	if c.blocks == nil {
		c.blocks = run.NewCache(bucket, mostBlocks)
	}
	r := c.runs[key]
	c.mu.Unlock()
	if r != nil {
		return r, nil
	}
	r, err := run.Open(ctx, bucket, key, c.blocks)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs == nil || len(c.runs) >= mostDirectories {
		c.runs = make(map[string]*run.Reader)
	}
	c.runs[key] = r
	return r, nil
}
