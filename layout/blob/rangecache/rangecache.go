package rangecache

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// mostRequests is the greatest number of concurrent requests of a cache. It equals the
// number of connections that the store's client keeps open.
const mostRequests = 128

// Options are the limits of a cache, its directory and its bucket.
type Options struct {
	Memory int64  // greatest size of the cache in memory, in bytes
	Dir    string // directory in which the cache makes its directory "ranges"; "": the cache is only in memory
	Disk   int64  // greatest size of the cache on disk, in bytes
	Bucket string // name of the bucket, such as its URL: entries on disk of another bucket are not used
}

// Cache reads ranges of a bucket's objects. It is safe for concurrent use.
type Cache struct {
	reader blob.Reader
	disk   *disk          // the cache on disk; nil if there is none
	slots  chan struct{}  // holds an element for each request under way, and so limits their number
	work   sync.WaitGroup // counts requests that have not ended, or whose answers are not yet on disk

	budget int64         // greatest number of bytes in memory, for ranges and for Hold's charges
	held   *atomic.Int64 // bytes of memory charged by calls of Hold

	mu     sync.Mutex // guards the fields below
	memory *lru[rangeID, []byte]
	state  string            // argument of the last call of Follow
	loads  map[rangeID]*load // the load of each range that is being read
	stats  Stats
}

// rangeID identifies a range: the object's key, and the range as it was requested.
type rangeID struct {
	key string
	blob.Range
}

// New returns a cache. Ranges that the cache does not hold are read through the parameter reader.
// New fails if it cannot open the cache's directory.
func New(reader blob.Reader, o Options) (*Cache, error) {
	c := &Cache{
		reader: reader,
		slots:  make(chan struct{}, mostRequests),
		memory: newLRU[rangeID, []byte](),
		budget: o.Memory,
		held:   new(atomic.Int64),
		loads:  map[rangeID]*load{},
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

// Close waits until all requests have ended and all entries are written to disk, and
// releases the directory. The cache must not be used afterwards.
func (c *Cache) Close() error {
	c.work.Wait()
	if c.disk == nil {
		return nil
	}
	return c.disk.close()
}

// Stats holds counts of events since New made the cache, and the cache's present sizes.
type Stats struct {
	MemoryHits int64 `json:"memory_hits"` // number of ranges found in memory
	DiskHits   int64 `json:"disk_hits"`   // number of ranges found on disk
	Shared     int64 `json:"shared"`      // number of ranges that another call was reading already
	Misses     int64 `json:"misses"`      // number of ranges read from the bucket
	Damaged    int64 `json:"damaged"`     // number of entries on disk that were deleted because they were damaged
	Unwritten  int64 `json:"unwritten"`   // number of entries that could not be written to disk
	Memory     int64 `json:"memory"`      // present size of the entries in memory, in bytes
	Held       int64 `json:"held"`        // bytes of memory charged by calls of Hold
	Disk       int64 `json:"disk"`        // present size of the entries on disk, in bytes; 0 unless this cache owns the directory
}

// Stats returns the cache's counts of ranges since New, and its present sizes.
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

// Forget removes ranges of a damaged object from the cache, so that the next read requests them
// again. It removes the ranges that are in memory, from there and from the disk. A range that is
// only on disk stays: the names of files are hashes, so that the files of an object cannot be found
// by its key.
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

// Follow tells the cache the state of the bucket: any string that changes when something in the
// bucket is erased. If it differs from the state at the previous call, Follow evicts all entries in
// memory and returns true. Entries on disk are deleted if they were written under another state and
// this cache owns the directory. Ranges that are being read are not affected.
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

// Read returns the bytes of each range of an object, as blob.Reader's Get would, and
// fails as Get would for the first range that fails. The bytes are shared, and must not
// be changed.
//
// Read takes ranges from memory or disk, and requests the others in parallel.
// Neighbouring ranges share a request. A range that another call is reading is not
// requested again. When ctx ends, Read returns; its requests go on as long as another
// call waits for them.
func (c *Cache) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	for _, r := range ranges {
		if err := r.Check(); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", key, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", key, err)
	}
	call := readCall{cache: c, ctx: ctx, key: key, contents: make([][]byte, len(ranges))}
	call.start(ranges)
	if len(call.waits) > 0 {
		if err := call.finish(); err != nil {
			return nil, err
		}
	}
	meter.Hit(ctx, call.hits)
	return call.contents, nil
}

// readCall is the state of one call of Cache.Read.
type readCall struct {
	cache    *Cache
	ctx      context.Context
	key      string
	contents [][]byte // the bytes of each range, to be returned by Read
	waits    []wait   // an element for each range that is not in memory
	begun    []*load  // loads that this call has begun
	hits     int      // number of ranges that were in memory, on disk, or requested by another call
}

// wait is one range that a call of Read waits for, because the range is not in memory. Its
// load is the reading of the range from disk or bucket.
type wait struct {
	number int // index of the range in the argument of Read
	load   *load
	own    bool // true: this call has begun the load; false: another call has
}

// start takes the contents of ranges that are in memory. For each other range it adds an element to
// c.waits: the load of the range, which c must wait for. If another call is reading the same range
// already, this is that call's load; otherwise start makes a new one.
func (c *readCall) start(ranges []blob.Range) {
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
		f, loading := cache.loads[id]
		if !loading {
			f = &load{id: id, done: make(chan struct{})}
			cache.loads[id] = f
			c.begun = append(c.begun, f)
		} else {
			cache.stats.Shared++
		}
		f.waiters++
		c.waits = append(c.waits, wait{i, f, !loading})
	}
	cache.stats.MemoryHits += int64(c.hits)
}

// finish reads the ranges whose loads this call has begun, from disk or by requests. Then it waits
// for all loads in c.waits, also for those that other calls have begun, and sets c.contents.
func (c *readCall) finish() error {
	defer c.cache.stopWaiting(c.waits)
	fork := meter.NewFork(c.ctx)
	c.cache.fetch(fork, c.key, c.cache.readDisk(c.begun))
	for _, w := range c.waits {
		select {
		case <-w.load.done:
		case <-c.ctx.Done():
			return fmt.Errorf("cannot read %s: %w", c.key, c.ctx.Err())
		}
		if w.load.err != nil {
			return w.load.err
		}
		c.contents[w.number] = w.load.content
		switch {
		case !w.load.asked:
			c.hits++
		case !w.own:
			c.hits++
			fork.Waited()
		}
	}
	return nil
}

// readDisk completes the loads whose ranges are on disk, and returns the others.
func (c *Cache) readDisk(loads []*load) (absent []*load) {
	if c.disk == nil {
		return loads
	}
	for _, f := range loads {
		if content, found := c.disk.get(f.id); found {
			f.content = content
			c.complete(f)
		} else {
			absent = append(absent, f)
		}
	}
	return absent
}
