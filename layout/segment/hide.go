package segment

import "github.com/RoaringBitmap/roaring"

// Without returns the segment without some of its documents, given by their
// numbers, and shares the rest with it. An index holds them neither as live nor
// as dead: they match nothing, count in no score and are not looked up.
// Document still reads them.
func (s *Segment) Without(docs ...uint32) *Segment {
	rest := *s
	rest.hidden = roaring.BitmapOf(docs...)
	if s.hidden != nil {
		rest.hidden.Or(s.hidden)
	}
	return &rest
}
