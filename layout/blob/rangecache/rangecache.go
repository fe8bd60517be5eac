package rangecache

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// mostRequests is the number of concurrent requests of a cache: that of the connections
// that the store's client keeps open.
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
	memory  *lru[rangeID, []byte]
	state   string              // of the bucket, see Follow
	flights map[rangeID]*flight // ranges on their way
	stats   Stats
}

// rangeID is a range of an object, as it was requested.
type rangeID struct {
	key string
	blob.Range
}

// New returns a cache in front of a reader. It fails if the directory cannot be opened.
func New(reader blob.Reader, o Options) (*Cache, error) {
	c := &Cache{
		reader:  reader,
		slots:   make(chan struct{}, mostRequests),
		memory:  newLRU[rangeID, []byte](),
		budget:  o.Memory,
		held:    new(atomic.Int64),
		flights: map[rangeID]*flight{},
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

// Close waits until everything is written to the disk, and releases the directory. The
// cache must not be used afterwards.
func (c *Cache) Close() error {
	c.work.Wait()
	if c.disk == nil {
		return nil
	}
	return c.disk.close()
}

// Stats are sums since New, and present sizes.
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

// Forget evicts all ranges of an object, because it is damaged: the next read requests
// them again.
func (c *Cache) Forget(key string) {
	c.mu.Lock()
	var held []rangeID
	for id := range c.memory.entries {
		if id.key == key {
			held = append(held, id)
		}
	}
	for _, id := range held {
		c.memory.remove(id)
	}
	c.mu.Unlock()
	if c.disk != nil {
		c.disk.forget(held)
	}
}

// Follow tells the cache the bucket's state, a string that changes when something is
// erased. The cache evicts entries from another state, in memory and in its own
// directory, and Follow reports whether the state has changed. Ranges on their way are
// kept.
func (c *Cache) Follow(state string) (changed bool) {
	if c.disk != nil {
		c.disk.follow(state)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if changed = c.state != "" && c.state != state; changed {
		c.memory = newLRU[rangeID, []byte]()
	}
	c.state = state
	return changed
}

// Read returns the bytes of each range of an object, as blob.Reader's Get would, and fails
// as Get would for the first range that fails. The caller must not change the bytes,
// which are shared.
//
// It takes ranges from memory or disk, and requests the others in parallel, neighbours by
// one request. It does not request a range that another call is reading. When ctx ends,
// the call ends; its requests go on as long as any call waits for them.
func (c *Cache) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	for _, r := range ranges {
		if err := r.Check(); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", key, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", key, err)
	}
	call := lookup{cache: c, ctx: ctx, key: key, contents: make([][]byte, len(ranges))}
	call.look(ranges)
	if len(call.waits) > 0 {
		if err := call.read(); err != nil {
			return nil, err
		}
	}
	meter.Hit(ctx, call.hits)
	return call.contents, nil
}

type lookup struct {
	cache    *Cache
	ctx      context.Context
	key      string
	contents [][]byte
	waits    []wait    // for what is not in memory
	begun    []*flight // those among them that no other call had begun
	hits     int
}

// wait is a range that a call waits for.
type wait struct {
	number int // of the range
	flight *flight
	own    bool // begun by the call
}

// look takes ranges from memory and joins or begins the flights of the others.
func (c *lookup) look(ranges []blob.Range) {
	cache := c.cache
	cache.mu.Lock()
	defer cache.mu.Unlock()
	for i, r := range ranges {
		id := rangeID{c.key, r}
		if content, found := cache.memory.get(id, cache.room()); found {
			c.contents[i] = content
			c.hits++
			continue
		}
		f, flying := cache.flights[id]
		if !flying {
			f = &flight{id: id, done: make(chan struct{})}
			cache.flights[id] = f
			c.begun = append(c.begun, f)
		} else {
			cache.stats.Shared++
		}
		f.waiters++
		c.waits = append(c.waits, wait{i, f, !flying})
	}
	cache.stats.MemoryHits += int64(c.hits)
}

// read reads the flights that the call has begun, and waits for all of its flights.
func (c *lookup) read() error {
	defer c.cache.leave(c.waits)
	fork := meter.NewFork(c.ctx)
	c.cache.fetch(fork, c.key, c.cache.readDisk(c.begun))
	for _, w := range c.waits {
		select {
		case <-w.flight.done:
		case <-c.ctx.Done():
			return fmt.Errorf("cannot read %s: %w", c.key, c.ctx.Err())
		}
		if w.flight.err != nil {
			return w.flight.err
		}
		c.contents[w.number] = w.flight.content
		switch {
		case !w.flight.asked:
			c.hits++
		case !w.own:
			c.hits++
			fork.Waited()
		}
	}
	return nil
}

// readDisk completes the flights whose ranges are on disk, and returns the others.
func (c *Cache) readDisk(flights []*flight) (absent []*flight) {
	if c.disk == nil {
		return flights
	}
	for _, f := range flights {
		if content, found := c.disk.get(f.id); found {
			f.content = content
			c.land(f)
		} else {
			absent = append(absent, f)
		}
	}
	return absent
}
