package rangecache

import "runtime"

// entryOverhead is what an entry takes in memory beside its content and key:
// itself, and its place in the map at the map's emptiest.
const entryOverhead = 224

// footprint returns what an entry takes in memory. The allocator rounds up by
// at most an eighth, and beyond 32 KiB to a page of 8 KiB.
func footprint(id id, content []byte) int64 {
	n := int64(cap(content))
	return n + min(n/8, 8<<10) + int64(len(id.key)) + entryOverhead
}

// keep puts what was read in memory. c.mu is held.
func (c *Cache) keep(id id, content []byte) {
	c.memory.add(id, content, footprint(id, content))
	c.trim()
}

// trim evicts until memory keeps its budget. c.mu is held.
func (c *Cache) trim() {
	room := c.room()
	c.memory.demote(room)
	for c.memory.used() > room {
		victim, _ := c.memory.victim()
		c.memory.remove(victim)
	}
}

// room is what ranges may take in memory.
func (c *Cache) room() int64 { return c.budget - c.held.Load() }

// Hold charges n bytes, of an opened segment say, to the memory budget as long
// as what is reachable, and evicts as many. If the budget cannot hold them
// beside all that it is charged already, Hold changes nothing and returns false.
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
