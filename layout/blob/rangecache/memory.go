package rangecache

import (
	"runtime"
)

// entryOverhead is the memory, in bytes, that an entry takes in addition to its content and key:
// its structs, and its share of the map. The share is the greatest possible: that in a map just
// after it has grown, when most of its slots are empty.
const entryOverhead = 224

// footprint returns the bytes of memory that an entry takes at most. The allocator may reserve more
// than the capacity of the content: it rounds up by at most an eighth, and above 32 KiB to whole
// pages of 8 KiB.
func footprint(id rangeID, content []byte) int64 {
	n := int64(cap(content))
	return n + min(n/8, 8<<10) + int64(len(id.key)) + entryOverhead
}

// keep adds an entry in memory, and evicts others to make room. The caller holds c.mu.
func (c *Cache) keep(id rangeID, content []byte) {
	c.memory.add(id, content, footprint(id, content))
	c.trim()
}

// trim evicts entries from memory until the others are within the budget. The caller
// holds c.mu.
func (c *Cache) trim() {
	room := c.room()
	c.memory.demote(room)
	for c.memory.used() > room {
		victim, _ := c.memory.victim()
		c.memory.remove(victim)
	}
}

// room returns the bytes of memory that entries may take: the budget less the bytes that
// Hold has charged.
func (c *Cache) room() int64 { return c.budget - c.held.Load() }

// Hold charges n bytes to the memory budget for an object, such as an opened segment,
// until the object is collected as garbage; ranges are evicted to make room. It returns
// false, and changes nothing, if the budget has no room for n bytes.
func Hold[T any](c *Cache, object *T, n int64) bool {
	if !c.reserve(n) {
		return false
	}
	held := c.held // the cleanup must not refer to c: through it the object may stay reachable for ever
	runtime.AddCleanup(object, func(n int64) { held.Add(-n) }, n)
	return true
}

// reserve adds n to c.held, the bytes that Hold has charged, and evicts ranges to make
// room. It returns false, and adds nothing, if the budget has no room for n bytes.
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

// lru is a segmented LRU (Karedla, Love and Wherry 1994, "Caching strategies to improve
// disk system performance"). A new entry is on probation; an entry that is requested
// again becomes protected. Entries on probation are evicted first, so that many entries
// that are used once do not displace those that are used often.
//
// An lru does not lock, and has no limit of its own: its owner removes victims until the
// other entries fit.
type lru[K comparable, V any] struct {
	entries   map[K]*entry[K, V]
	probation ring[K, V]
	protected ring[K, V]
	most      int // greatest number of entries since the map was made; the map still has the memory for so many
}

// entry is an entry of an lru, and an element of one of its rings.
type entry[K comparable, V any] struct {
	key        K
	value      V
	cost       int64       // size of the entry in memory or on disk, in bytes
	home       *ring[K, V] // the ring that contains the entry
	prev, next *entry[K, V]
}

func newLRU[K comparable, V any]() *lru[K, V] {
	l := &lru[K, V]{entries: make(map[K]*entry[K, V])}
	l.probation.init()
	l.protected.init()
	return l
}

// used returns the sum of the costs of all entries: their size in memory or on disk, in bytes.
func (l *lru[K, V]) used() int64 { return l.probation.cost + l.protected.cost }

// get returns the value of a key. An entry is on probation until its first use; get makes it
// protected. Protected entries may take at most four fifths of limit, the size in bytes that all
// entries together may have. If they now take more, get puts the least recently used of them back on
// probation.
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

// demote puts protected entries back on probation, the least recently used first, until the costs
// of the remaining protected entries add up to at most four fifths of limit.
func (l *lru[K, V]) demote(limit int64) {
	for l.protected.cost > limit/5*4 && l.protected.last() != nil {
		e := l.protected.last()
		l.protected.remove(e)
		l.probation.add(e)
	}
}

// add puts a value on probation. It replaces another value of the key.
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

// victim returns the key of the entry to evict next; found is false if there is none.
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
	root entry[K, V] // sentinel: not an entry; its neighbours are the first and the last entry
	cost int64       // sum of the costs of the ring's entries, in bytes
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

// last returns the least recently used entry; nil if the ring is empty.
func (r *ring[K, V]) last() *entry[K, V] {
	if r.root.prev == &r.root {
		return nil
	}
	return r.root.prev
}
