package erase

import (
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Memory is what a process remembers of objects that it has looked into, so
// that a takedown that waits for something is not looked for again and again
// in the same objects. It is never wrong, since no object ever changes.
type Memory struct {
	mu         sync.Mutex
	partitions map[layout.Partition]*cleanKeys
}

// cleanKeys are the keys of objects of a partition that hold nothing of what
// one version of the takedowns forgets. They are safe for concurrent use.
type cleanKeys struct {
	version uint64

	mu   sync.Mutex
	keys map[string]bool
}

// of returns what is known of a partition; nothing, when the version is
// another than before.
func (m *Memory) of(p layout.Partition, version uint64) *cleanKeys {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.partitions[p]; known != nil && known.version == version {
		return known
	}
	if m.partitions == nil {
		m.partitions = make(map[layout.Partition]*cleanKeys)
	}
	m.partitions[p] = &cleanKeys{version: version, keys: make(map[string]bool)}
	return m.partitions[p]
}

func (c *cleanKeys) has(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keys[key]
}

func (c *cleanKeys) add(keys ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		c.keys[key] = true
	}
}
