package fetch

import (
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
)

// maxSurvived is how many batches a survived remembers, the latest.
const maxSurvived = 1000

// survived remembers batches that failed without killing their fetch. It is
// safe for concurrent use; its zero value is empty.
type survived struct {
	mu      sync.Mutex // protects batches
	batches []layout.Version
}

func (s *survived) add(v layout.Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.batches, v) {
		return
	}
	if len(s.batches) == maxSurvived {
		s.batches = slices.Delete(s.batches, 0, 1)
	}
	s.batches = append(s.batches, v)
}

func (s *survived) has(v layout.Version) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.batches, v)
}
