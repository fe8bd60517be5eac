package account

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// facts are the outcomes of one URL and the paths that lead to it.
type facts struct {
	url      string
	standing book.Standing
	reach    reach // one path to the URL; further paths are in shard.more
}

// shard holds the facts (outcomes and paths) of all URLs whose identities (hashes of the URLs) begin
// with the same byte.
type shard struct {
	takedowns takedown.Set
	size      *atomic.Int64 // size of the account (see Account.size)

	mu        sync.Mutex                  // protects the fields below
	urls      map[layout.Identity]*facts  // facts of each URL; nil for a forgotten URL
	forgotten int                         // number of forgotten URLs, the entries of urls that are nil
	more      map[layout.Identity][]reach // paths to a URL besides facts.reach; none covers another (see reach.covers)
}

func newShard(t takedown.Set, size *atomic.Int64) *shard {
	return &shard{takedowns: t, size: size, urls: make(map[layout.Identity]*facts), more: make(map[layout.Identity][]reach)}
}

// len returns the number of URLs in the shard that no takedown forgets.
func (s *shard) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.urls) - s.forgotten
}

// of returns the facts of a URL, or nil if the URL is forgotten. For an unknown URL it
// adds empty facts to the shard. The caller holds s.mu.
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
	s.size.Add(1)
	return f
}

// outcome adds an outcome to the facts of the URL with this identity.
func (s *shard) outcome(id layout.Identity, o book.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.of(id, o.URL); f != nil {
		o.URL = f.url // so that only one copy of the text is kept
		f.standing.Add(&o)
	}
}

// reach adds a path of links to the facts of the URL with this identity.
func (s *shard) reach(id layout.Identity, url string, r reach) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.of(id, url)
	switch {
	case f == nil:
	case f.reach.by <= anAsset:
		r.by = max(f.reach.by, r.by)
		f.reach = r
	case r.by == anAsset, f.reach.covers(r):
	default:
		s.add(id, f, r)
	}
}

// add adds a path (links that lead from a seed to the URL) to the known paths of a URL: f.reach and
// those in s.more. The caller has checked that f.reach does not cover the new path (see
// reach.covers). If a path in s.more covers it, add changes nothing. Otherwise add drops all known
// paths that the new path covers. The new path takes the place of f.reach if f.reach is dropped;
// else it goes into s.more.
func (s *shard) add(id layout.Identity, f *facts, r reach) {
	more := s.more[id]
	if slices.ContainsFunc(more, func(known reach) bool { return known.covers(r) }) {
		return
	}
	left := slices.DeleteFunc(more, r.covers)
	if r.covers(f.reach) {
		f.reach = r
	} else {
		left = append(left, r)
	}
	s.size.Add(int64(len(left) - len(more)))
	switch {
	case len(left) > 0:
		s.more[id] = left
	case len(more) > 0:
		delete(s.more, id)
	}
}
