package account

import (
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// facts is what is known of one URL: 48 bytes beside its text and outcomes.
type facts struct {
	url      string
	standing book.Standing
	reach    reach // the nearest of the collection that came first
}

// reach is a way on which a collection comes to a URL.
type reach struct {
	by    uint32 // the number of the collection, nobody or anImage
	depth uint16
	hops  uint8
}

// nearer reports whether the way is shorter than another. One of too many
// redirects leads nowhere, so any other is shorter.
func (r reach) nearer(than reach) bool {
	if lost, lostThan := r.hops > collection.MaxHops, than.hops > collection.MaxHops; lost != lostThan {
		return lostThan
	}
	return r.depth < than.depth || r.depth == than.depth && r.hops < than.hops
}

// shard is the facts about those URLs whose identities begin with one byte.
type shard struct {
	takedowns takedown.Set

	mu        sync.Mutex                  // protects the fields below
	urls      map[layout.Identity]*facts  // nil for one that is forgotten
	forgotten int                         // of the above
	more      map[layout.Identity][]reach // of further collections
}

func newShard(t takedown.Set) *shard {
	return &shard{takedowns: t, urls: make(map[layout.Identity]*facts), more: make(map[layout.Identity][]reach)}
}

func (s *shard) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.urls) - s.forgotten
}

// of returns the facts about a URL, nil when it is forgotten.
func (s *shard) of(id layout.Identity, url string) *facts {
	f, known := s.urls[id]
	if known {
		return f
	}
	if !s.takedowns.Empty() && s.takedowns.ForgetsURL(url) {
		s.forgotten++
	} else {
		f = &facts{url: url}
	}
	s.urls[id] = f
	return f
}

func (s *shard) outcome(id layout.Identity, o book.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.of(id, o.URL); f != nil {
		o.URL = f.url // so that one copy is kept
		f.standing.Add(&o)
	}
}

func (s *shard) reach(id layout.Identity, url string, r reach) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.of(id, url)
	switch {
	case f == nil:
	case f.reach.by <= anImage:
		f.reach = reach{max(f.reach.by, r.by), r.depth, r.hops}
	case r.by == anImage:
	case r.by == f.reach.by:
		if r.nearer(f.reach) {
			f.reach = r
		}
	default:
		more := s.more[id]
		i := slices.IndexFunc(more, func(known reach) bool { return known.by == r.by })
		if i < 0 {
			s.more[id] = append(more, r)
		} else if r.nearer(more[i]) {
			more[i] = r
		}
	}
}
