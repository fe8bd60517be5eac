package segment

import (
	"errors"
	"fmt"
)

// versionError tells that a segment is of a version that is not read.
type versionError struct{ written, least byte }

func (e versionError) Error() string {
	if e.written < leastVersion {
		return fmt.Sprintf("segment is of version %d, which this program no longer reads: run bucketsearch reindex", e.written)
	}
	return fmt.Sprintf("segment is of version %d and needs a reader of version %d, this one is of version %d: use a newer program",
		e.written, e.least, version)
}

// Is makes it an ErrVersion.
func (e versionError) Is(target error) bool { return target == ErrVersion }

// checkReader fails if a tail is of a version that this program does not read.
func checkReader(tail []byte) error {
	if len(tail) < 2 {
		return damaged("its tail says nothing")
	}
	if written, least := tail[0], tail[1]; least > version || written < leastVersion {
		return versionError{written, least}
	}
	return nil
}

// checkMagic fails if an object does not begin as a segment, or as one of a
// version that this program does not read.
func checkMagic(content []byte) error {
	if len(content) < len(magic) {
		return damaged("%d bytes are too few for a segment", len(content))
	}
	begin := content[:len(magic)]
	if string(begin) == magic {
		return nil
	}
	if string(begin[:5]) == magic[:5] && string(begin[6:]) == magic[6:] {
		return versionError{begin[5], begin[5]}
	}
	return damaged("it does not begin as a segment")
}

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
