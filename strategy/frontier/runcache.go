package frontier

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/run"
)

// mostDirectories is the greatest number of runs whose directories a RunCache keeps: those of 268 million URLs, with
// some 50 KB each.
const mostDirectories = 256

// RunCache keeps what a process has read of runs: the lists of runs, and the directories of the runs. A process that
// settles many batches so reads them once, and not for each batch. All frontiers that use one must have the same Redis and
// the same bucket. The zero value is ready to use. It is safe for concurrent use.
type RunCache struct {
	mu    sync.Mutex
	lists map[int]*atomic.Pointer[string] // the field Frontier.runs, by crawl partition
	runs  map[string]*run.Reader          // by key; those that are listed no more stay until there are too many
}

// WithRunCache lets f use what c keeps, and returns f.
func (f *Frontier) WithRunCache(c *RunCache) *Frontier {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lists == nil {
		c.lists, c.runs = make(map[int]*atomic.Pointer[string]), make(map[string]*run.Reader)
	}
	if c.lists[f.partition] == nil {
		c.lists[f.partition] = f.runs
	}
	f.cache, f.runs = c, c.lists[f.partition]
	return f
}

// open returns a reader of a run. If c is nil, it reads the directory of the run in any case.
func (c *RunCache) open(ctx context.Context, bucket blob.Reader, key string) (*run.Reader, error) {
	if c == nil {
		return run.Open(ctx, bucket, key)
	}
	c.mu.Lock()
	r := c.runs[key]
	c.mu.Unlock()
	if r != nil {
		return r, nil
	}
	r, err := run.Open(ctx, bucket, key)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.runs) >= mostDirectories {
		clear(c.runs)
	}
	c.runs[key] = r
	return r, nil
}
