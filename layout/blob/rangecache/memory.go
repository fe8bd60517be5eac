package rangecache

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
	c.memory.demote(c.room)
	for c.memory.used() > c.room {
		victim, _ := c.memory.victim()
		c.memory.remove(victim)
	}
}

// Reserve charges n bytes that the caller holds, such as opened segments, to
// the memory budget, and evicts as many. If the budget cannot hold them beside
// what is reserved already, it changes nothing and returns false.
func (c *Cache) Reserve(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > c.room {
		return false
	}
	c.room -= n
	c.stats.Reserved += n
	c.trim()
	return true
}

// Release gives back n bytes that were reserved.
func (c *Cache) Release(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.room += n
	c.stats.Reserved -= n
}
