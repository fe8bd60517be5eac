package account

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// reach is a way on which a collection comes to a URL: 8 bytes.
type reach struct {
	by     uint32 // the number of its origin, nobody or anImage
	depth  uint16
	hops   uint8
	weight uint8
}

// What stands where a way has the number of its origin.
const (
	nobody  = iota // no link leads there
	anImage        // no more than images lead there
	numbers        // how many numbers are taken
)

// covers reports whether the way is at least as good as another of the same
// origin, whatever the limits of the collection are. One of too many redirects
// leads nowhere, so any other is better.
func (r reach) covers(other reach) bool {
	if lost, lostOther := r.hops > collection.MaxHops, other.hops > collection.MaxHops; r.by != other.by || lost != lostOther {
		return r.by == other.by && lostOther
	}
	return r.depth <= other.depth && r.hops <= other.hops && r.weight >= other.weight && membership.Band(r.depth, r.weight) <= membership.Band(other.depth, other.weight)
}

// origin is what ways have in common that one decision looks at.
type origin struct {
	collection string
	kind       book.Kind // 0 of a seed; Anchor and Redirect stand for those that are decided alike
}

func originOf(collection string, kind book.Kind) origin {
	switch kind {
	case book.Canonical:
		kind = book.Redirect
	case book.Frame, book.Listed:
		kind = book.Anchor
	}
	return origin{collection, kind}
}

// rank says who is heard first: a sitemap that pages link to is still one.
func (o origin) rank() int {
	if o.kind == book.Sitemap {
		return 0
	}
	return 1
}

// origins gives them numbers. It is safe for concurrent use.
type origins struct {
	known atomic.Pointer[map[origin]uint32] // never changed, but replaced
	mu    sync.Mutex                        // held to replace it
}

func (n *origins) numbers() map[origin]uint32 {
	if known := n.known.Load(); known != nil {
		return *known
	}
	return nil
}

func (n *origins) number(o origin) uint32 {
	if number, found := n.numbers()[o]; found {
		return number
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	next := maps.Clone(n.numbers())
	if next == nil {
		next = make(map[origin]uint32)
	}
	if _, found := next[o]; !found {
		next[o] = uint32(numbers + len(next))
	}
	n.known.Store(&next)
	return next[o]
}

// all returns them by their numbers.
func (n *origins) all() []origin {
	all := make([]origin, numbers+len(n.numbers()))
	for o, number := range n.numbers() {
		all[number] = o
	}
	return all
}
