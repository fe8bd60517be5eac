package rangecache

// lru orders what a cache holds by how well it deserves its place: a segmented
// LRU (Karedla, Love and Wherry 1994, "Caching strategies to improve disk
// system performance"). What is new is on probation; what is asked for again
// there is protected. Only what is on probation is evicted, while there is any,
// so that a scan of things read once leaves what is used often in its place.
//
// It does not lock. Its holder removes victims until what is held fits.
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

// used returns the cost of all that is held.
func (l *lru[K, V]) used() int64 { return l.probation.cost + l.protected.cost }

// get returns what is held under the key, and protects it within a share of
// four fifths of the limit.
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

// demote puts what has no place among the protected on probation again.
func (l *lru[K, V]) demote(limit int64) {
	for l.protected.cost > limit/5*4 && l.protected.last() != nil {
		e := l.protected.last()
		l.protected.remove(e)
		l.probation.add(e)
	}
}

// add puts a value on probation, in place of any other of its key.
func (l *lru[K, V]) add(key K, value V, cost int64) {
	l.remove(key)
	e := &entry[K, V]{key: key, value: value, cost: cost}
	l.probation.add(e)
	l.entries[key] = e
	l.most = max(l.most, len(l.entries))
}

// remove forgets a key.
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

// victim returns what deserves its place least, if anything is held.
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

// ring is a list of entries, the last used first.
type ring[K comparable, V any] struct {
	root entry[K, V] // before the first and behind the last
	cost int64       // of all
}

func (r *ring[K, V]) init() { r.root.prev, r.root.next = &r.root, &r.root }

// add puts an entry first.
func (r *ring[K, V]) add(e *entry[K, V]) {
	e.home, e.prev, e.next = r, &r.root, r.root.next
	e.prev.next, e.next.prev = e, e
	r.cost += e.cost
}

func (r *ring[K, V]) remove(e *entry[K, V]) {
	e.prev.next, e.next.prev = e.next, e.prev
	r.cost -= e.cost
}

// last returns the entry that was not used for the longest time, or nil.
func (r *ring[K, V]) last() *entry[K, V] {
	if r.root.prev == &r.root {
		return nil
	}
	return r.root.prev
}
