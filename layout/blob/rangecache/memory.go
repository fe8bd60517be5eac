package rangecache

import (
	"runtime"
)

// entryOverhead is the memory of an entry beside its content and key: the structure, and
// its place in the map when the map is emptiest.
const entryOverhead = 224

// footprint returns the memory of an entry. The allocator rounds up by at most an
// eighth, and beyond 32 KiB to a page of 8 KiB.
func footprint(id rangeID, content []byte) int64 {
	n := int64(cap(content))
	return n + min(n/8, 8<<10) + int64(len(id.key)) + entryOverhead
}

// keep stores a range in memory. The caller holds c.mu.
func (c *Cache) keep(id rangeID, content []byte) {
	c.memory.add(id, content, footprint(id, content))
	c.trim()
}

// trim evicts entries until memory is within the budget. The caller holds c.mu.
func (c *Cache) trim() {
	room := c.room()
	c.memory.demote(room)
	for c.memory.used() > room {
		victim, _ := c.memory.victim()
		c.memory.remove(victim)
	}
}

// room is the memory for ranges.
func (c *Cache) room() int64 { return c.budget - c.held.Load() }

// Hold charges n bytes, for example of an opened segment, to the memory budget as long as
// what is reachable, and evicts as many bytes of ranges. It returns false, and changes
// nothing, if the budget has no room for them.
func Hold[T any](c *Cache, what *T, n int64) bool {
	if !c.reserve(n) {
		return false
	}
	held := c.held // and not c: what may be reachable from its reader
	runtime.AddCleanup(what, func(n int64) { held.Add(-n) }, n)
	return true
}

func (c *Cache) reserve(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > c.room() {
		return false
	}
	c.held.Add(n)
	c.trim()
	return true
}

// lru is a segmented LRU (Karedla, Love and Wherry 1994, "Caching strategies to
// improve disk system performance"). New entries are on probation; those asked
// for again are protected. Entries on probation are evicted first, so that a
// scan of things read once leaves what is used often in its place.
//
// It does not lock. Its owner removes victims until the rest fits.
type lru[K comparable, V any] struct {
	entries   map[K]*entry[K, V]
	probation ring[K, V]
	protected ring[K, V]
	most      int // entries ever held since entries was made
}

type entry[K comparable, V any] struct {
	key        K
	value      V
	cost       int64 // bytes
	home       *ring[K, V]
	prev, next *entry[K, V]
}

func newLRU[K comparable, V any]() *lru[K, V] {
	l := &lru[K, V]{entries: make(map[K]*entry[K, V])}
	l.probation.init()
	l.protected.init()
	return l
}

func (l *lru[K, V]) used() int64 { return l.probation.cost + l.protected.cost }

// get returns the value of a key, and protects it within four fifths of the limit.
func (l *lru[K, V]) get(key K, limit int64) (value V, found bool) {
	e, found := l.entries[key]
	if !found {
		return value, false
	}
	e.home.remove(e)
	l.protected.add(e)
	l.demote(limit)
	return e.value, true
}

// demote puts entries beyond the protected share on probation again.
func (l *lru[K, V]) demote(limit int64) {
	for l.protected.cost > limit/5*4 && l.protected.last() != nil {
		e := l.protected.last()
		l.protected.remove(e)
		l.probation.add(e)
	}
}

// add puts a value on probation, in place of another value of its key.
func (l *lru[K, V]) add(key K, value V, cost int64) {
	l.remove(key)
	e := &entry[K, V]{key: key, value: value, cost: cost}
	l.probation.add(e)
	l.entries[key] = e
	l.most = max(l.most, len(l.entries))
}

func (l *lru[K, V]) remove(key K) {
	e, found := l.entries[key]
	if !found {
		return
	}
	e.home.remove(e)
	delete(l.entries, key)
	if l.most > 1_024 && len(l.entries) < l.most/4 { // a map never shrinks
		entries := make(map[K]*entry[K, V], len(l.entries))
		for key, e := range l.entries {
			entries[key] = e
		}
		l.entries, l.most = entries, len(entries)
	}
}

// victim returns the key to evict next, if there is any.
func (l *lru[K, V]) victim() (key K, found bool) {
	e := l.probation.last()
	if e == nil {
		e = l.protected.last()
	}
	if e == nil {
		return key, false
	}
	return e.key, true
}

// ring is a list of entries, the most recently used first.
type ring[K comparable, V any] struct {
	root entry[K, V] // before the first and behind the last
	cost int64       // of all
}

func (r *ring[K, V]) init() { r.root.prev, r.root.next = &r.root, &r.root }

func (r *ring[K, V]) add(e *entry[K, V]) {
	e.home, e.prev, e.next = r, &r.root, r.root.next
	e.prev.next, e.next.prev = e, e
	r.cost += e.cost
}

func (r *ring[K, V]) remove(e *entry[K, V]) {
	e.prev.next, e.next.prev = e.next, e.prev
	r.cost -= e.cost
}

// last returns the least recently used entry, or nil.
func (r *ring[K, V]) last() *entry[K, V] {
	if r.root.prev == &r.root {
		return nil
	}
	return r.root.prev
}
