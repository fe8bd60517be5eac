package rangecache

import "os"

// Clear forgets all that is held, in memory and on disk, so that nothing is
// left of what was erased from the bucket. What another cache keeps in the
// directory is its to clear. Ranges that are on their way are kept as they
// arrive.
func (c *Cache) Clear() {
	c.mu.Lock()
	c.memory = newLRU[id, []byte]()
	c.mu.Unlock()
	if c.disk != nil {
		c.disk.clear()
	}
}

// clear deletes all entries, those that an earlier cache left among them.
func (d *disk) clear() {
	d.writing.Lock()
	defer d.writing.Unlock()
	if owner, err := d.own(); err != nil || !owner {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.index.entries {
		_ = os.Remove(d.path(name))
	}
	d.index = newLRU[name, struct{}]()
}
