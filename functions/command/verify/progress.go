package verify

import "sync/atomic"

// Progress is how far a stage has come.
type Progress struct {
	Stage       Stage
	Done, Total int64 // in a unit of the stage's own
}

// Stage names a part of the proof.
type Stage string

// The stages, in their order.
const (
	Manifests Stage = "manifests" // counted in generations
	Packages  Stage = "packages"  // in bytes
	Books     Stage = "books"     // in bytes
	Ranges    Stage = "ranges"    // of URLs
	Segments  Stage = "segments"  // in bytes
)

// stage counts what is done of a stage and tells it.
type stage struct {
	name  Stage
	tell  func(Progress)
	total int64
	done  atomic.Int64
}

func (v *Verifier) stage(name Stage, total int64) *stage {
	s := &stage{name: name, tell: v.Progress, total: total}
	s.add(0)
	return s
}

func (s *stage) add(n int64) {
	done := s.done.Add(n)
	if s.tell != nil {
		s.tell(Progress{s.name, done, s.total})
	}
}
