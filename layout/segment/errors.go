package segment

import (
	"errors"
	"fmt"
)

var (
	// ErrDamaged is wrapped by every error that is the fault of a segment's
	// bytes, and not of the store or the caller.
	ErrDamaged = errors.New("segment is damaged")
	// ErrVersion is wrapped where a segment is of a version that this program
	// does not read.
	ErrVersion = errors.New("segment is of another version")
)

// damaged says what is wrong with the bytes.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}
