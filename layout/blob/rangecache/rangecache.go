package rangecache

import (
	"sync"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// mostRequests is how many requests a cache has under way at once: as many as
// the connections that the store's client keeps open.
const mostRequests = 128

// Options of a cache.
type Options struct {
	Memory int64  // bytes to hold in memory at most
	Dir    string // where to make a directory for more on disk; "" for nowhere
	Disk   int64  // bytes to hold there at most
	Bucket string // names the bucket, as its URL does: entries on disk of another one are not taken
}

// Cache reads ranges of a bucket's objects. It is safe for concurrent use.
type Cache struct {
	reader blob.Reader
	disk   *disk         // nil without one
	slots  chan struct{} // one for each request under way
	work   sync.WaitGroup

	budget int64         // bytes of memory, for ranges and what is held
	held   *atomic.Int64 // bytes of memory that are charged

	mu      sync.Mutex // guards what follows
	memory  *lru[id, []byte]
	state   string         // of the bucket, see Follow
	flights map[id]*flight // ranges on their way
	stats   Stats
}

// id names a range of an object, as it was asked for.
type id struct {
	key string
	blob.Range
}

// New returns a cache in front of a reader. It fails if the directory cannot
// be had.
func New(reader blob.Reader, o Options) (*Cache, error) {
	c := &Cache{
		reader:  reader,
		slots:   make(chan struct{}, mostRequests),
		memory:  newLRU[id, []byte](),
		budget:  o.Memory,
		held:    new(atomic.Int64),
		flights: map[id]*flight{},
	}
	if o.Dir != "" {
		var err error
		if c.disk, err = openDisk(o); err != nil {
			return nil, err
		}
		c.budget -= int64(c.disk.most) * indexed
	}
	return c, nil
}

// Close waits until all is written to the disk, and leaves the directory to
// other caches. The cache must not be used any more.
func (c *Cache) Close() error {
	c.work.Wait()
	if c.disk == nil {
		return nil
	}
	return c.disk.close()
}

// Stats are sums since New, and what is held now.
type Stats struct {
	MemoryHits int64 `json:"memory_hits"` // ranges found in memory
	DiskHits   int64 `json:"disk_hits"`   // ranges found on disk
	Shared     int64 `json:"shared"`      // ranges that were on their way already
	Misses     int64 `json:"misses"`      // ranges read from the bucket
	Damaged    int64 `json:"damaged"`     // entries on disk that were deleted because of their bytes
	Unwritten  int64 `json:"unwritten"`   // entries that the disk did not take
	Memory     int64 `json:"memory"`      // bytes of entries in memory
	Held       int64 `json:"held"`        // bytes charged for what is held elsewhere
	Disk       int64 `json:"disk"`        // bytes held on disk; 0 until this cache has written there
}

// Stats returns what the cache did and holds.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	s := c.stats
	s.Memory, s.Held = c.memory.used(), c.held.Load()
	c.mu.Unlock()
	if c.disk != nil {
		c.disk.report(&s)
	}
	return s
}
