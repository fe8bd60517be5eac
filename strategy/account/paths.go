package account

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// reach describes a path of links from a seed of a collection to a URL, in 8 bytes.
type reach struct {
	by     uint32 // number of the path's origin (see the type origin); nobody or anAsset if there is no path
	depth  uint16
	hops   uint8
	weight uint8
}

// Values of the field by of the type reach. The values 0 and 1 say that no path leads to the URL. All
// higher values are numbers of origins.
const (
	nobody  = iota // the URL is no seed, and nothing leads to it
	anAsset        // pages use the URL, but only as an asset, and the collections of these pages store no assets
	numbers        // lowest value that is the number of an origin (see origins)
)

// covers reports whether the path r makes another path to the same URL superfluous: whenever the
// other path is admitted, r is admitted, too. Both paths must have the same origin (collection, and
// kind of the last link). r covers the other path in two cases:
//
//   - r is at least as good in depth, redirects, weight and band (see membership.Band).
//   - Only the other path has more than collection.MaxHops redirects, and so is never admitted.
func (r reach) covers(other reach) bool {
	if lost, lostOther := r.hops > collection.MaxHops, other.hops > collection.MaxHops; r.by != other.by || lost != lostOther {
		return r.by == other.by && lostOther
	}
	return r.depth <= other.depth && r.hops <= other.hops && r.weight >= other.weight && membership.Band(r.depth, r.weight) <= membership.Band(other.depth, other.weight)
}

// origin holds two properties of a path: its collection, and the kind of its last link. All paths
// of one origin are admitted by the same rules. It has nothing to do with the origin of an address.
type origin struct {
	collection string
	// kind of the last link, 0 for a seed. Kinds for which the same rules hold are joined: Anchor
	// stands for Frame and Listed, too, and Redirect for Canonical.
	kind book.Kind
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

// origins gives each origin of paths a number. An origin is here a collection and a kind of link (see
// the type origin), and not the origin of an address. It is safe for concurrent use.
type origins struct {
	known atomic.Pointer[map[origin]uint32] // number of each origin; the map is never changed, a larger one replaces it
	mu    sync.Mutex                        // locked while a new map is made and stored in the field known
}

func (n *origins) numbers() map[origin]uint32 {
	if known := n.known.Load(); known != nil {
		return *known
	}
	return nil
}

// number returns the number of an origin. It gives a new origin the next free number.
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

// all returns all origins; the index of an origin is its number. The elements 0 and 1 are empty: no
// origin has these numbers, because the constants nobody and anAsset have them.
func (n *origins) all() []origin {
	all := make([]origin, numbers+len(n.numbers()))
	for o, number := range n.numbers() {
		all[number] = o
	}
	return all
}
