package account

import (
	"maps"
	"sync"
	"sync/atomic"
)

// What stands where a way has the number of its collection.
const (
	nobody  = iota // no link leads there
	anImage        // no more than images lead there
	numbers        // how many numbers are taken
)

// names gives numbers to collections. It is safe for concurrent use.
type names struct {
	known atomic.Pointer[map[string]uint32] // never changed, but replaced
	mu    sync.Mutex                        // held to replace it
}

func (n *names) numbers() map[string]uint32 {
	if known := n.known.Load(); known != nil {
		return *known
	}
	return nil
}

func (n *names) number(name string) uint32 {
	if number, found := n.numbers()[name]; found {
		return number
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	next := maps.Clone(n.numbers())
	if next == nil {
		next = make(map[string]uint32)
	}
	if _, found := next[name]; !found {
		next[name] = uint32(numbers + len(next))
	}
	n.known.Store(&next)
	return next[name]
}

// names returns the names by their numbers.
func (n *names) names() []string {
	all := make([]string, numbers+len(n.numbers()))
	for name, number := range n.numbers() {
		all[number] = name
	}
	return all
}
