package rangecache

import (
	"bytes"
	"os"
	"path/filepath"
)

// Forget forgets what is held of an object, because it is damaged: the next
// read asks the bucket.
func (c *Cache) Forget(key string) {
	c.mu.Lock()
	var held []id
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

// Follow says in what state the bucket is, which changes when something is
// erased from it. It forgets what is held from another state, in memory and on
// disk, and reports whether there was one. What another cache keeps in the
// directory is its to forget. Ranges that are on their way are kept as they
// arrive.
func (c *Cache) Follow(state string) (changed bool) {
	if c.disk != nil {
		c.disk.follow(state)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if changed = c.state != "" && c.state != state; changed {
		c.memory = newLRU[id, []byte]()
	}
	c.state = state
	return changed
}

// forget deletes entries, if the directory is ours.
func (d *disk) forget(held []id) {
	d.writing.Lock()
	defer d.writing.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.owner {
		return
	}
	for _, id := range held {
		name := nameOf(d.bucket, id)
		_ = os.Remove(d.path(name))
		d.index.remove(name)
	}
}

// follow notes the state, for now or until the directory is ours.
func (d *disk) follow(state string) {
	d.writing.Lock()
	defer d.writing.Unlock()
	if string(d.state) == state {
		return
	}
	d.state = []byte(state)
	if owner, err := d.own(); err == nil && owner {
		d.renew()
	}
}

// renew deletes what was kept in another state than the one that is followed,
// if any is. The directory is ours, and d.writing is held.
func (d *disk) renew() {
	path := filepath.Join(d.dir, "state")
	if kept, err := os.ReadFile(path); d.state == nil || err == nil && bytes.Equal(kept, d.state) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.index.entries {
		_ = os.Remove(d.path(name))
	}
	d.index = newLRU[name, struct{}]()
	_ = os.WriteFile(path, d.state, 0o600) // without it the next cache begins anew
}
