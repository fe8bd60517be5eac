package blob

import (
	"fmt"
	"math"
)

// Check returns an error if no object could have the range: a negative
// length, or a suffix with a length.
func (r Range) Check() error {
	if r.Length < 0 || (r.Offset < 0 && r.Length != 0) || r.Offset == math.MinInt64 {
		return fmt.Errorf("range of %d bytes from %d: want a length of 0 or more, and 0 for a suffix", r.Length, r.Offset)
	}
	return nil
}

// Within returns the half-open part of an object of the given size that the
// range selects. It fails with ErrRange if that part would begin at or behind
// the end; only the zero Range selects the nothing of an empty object.
func (r Range) Within(size int64) (from, to int64, err error) {
	if err := r.Check(); err != nil {
		return 0, 0, err
	}
	if r == (Range{}) {
		return 0, size, nil
	}
	from, to = r.Offset, size
	if from < 0 {
		from = max(0, size+from)
	}
	if from >= size {
		return 0, 0, fmt.Errorf("offset %d of %d bytes: %w", r.Offset, size, ErrRange)
	}
	if r.Length > 0 && r.Length < size-from {
		to = from + r.Length
	}
	return from, to, nil
}
