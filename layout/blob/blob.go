// Package blob is the interface of the object store: the few operations that the search
// engine needs and every S3-compatible store has.
package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"
)

// Errors that all implementations of Bucket wrap, so that callers can distinguish them
// by errors.Is whatever the store is.
var (
	// ErrAbsent: no object has this key.
	ErrAbsent = errors.New("object is absent")
	// ErrExists: an object with this key exists already, so that no object was created.
	ErrExists = errors.New("object exists")
	// ErrRetryable: the store did not answer, or said that it is busy; the
	// operation may or may not have happened, and may be tried again.
	ErrRetryable = errors.New("object store is not available")
	// ErrRange: the range begins at or after the end of the object.
	ErrRange = errors.New("range is outside of the object")
)

// Object is one entry of a listing.
type Object struct {
	Key  string
	Size int64
	// Modified is the time of storing by the store's clock, to the second at least.
	// Use it only to judge ages of a day or more, never for correctness.
	Modified time.Time
}

// Range selects bytes of an object:
//
//	Offset   Length   selects
//	0        0        the whole object
//	a        n > 0    n bytes from a; fewer at the end of the object
//	a        0        all bytes from a
//	-n       0        the last n bytes
type Range struct {
	Offset, Length int64
}

// Reader reads objects. Implementations are safe for concurrent use.
type Reader interface {
	// Get returns the bytes in the range. One call is one request.
	// It fails with ErrAbsent, ErrRange or ErrRetryable.
	Get(ctx context.Context, key string, r Range) ([]byte, error)
	// Head returns the size of an object in bytes. It fails with ErrAbsent or
	// ErrRetryable.
	Head(ctx context.Context, key string) (int64, error)
	// List yields the objects whose keys begin with prefix and sort after
	// startAfter, in the order of their keys. An error ends the sequence.
	List(ctx context.Context, prefix, startAfter string) iter.Seq2[Object, error]
}

// Bucket reads and writes objects. Implementations are safe for concurrent use.
type Bucket interface {
	Reader
	// Create stores an object if the key is absent; else it fails with ErrExists.
	// After ErrRetryable the object may have been stored: call again, and treat
	// ErrExists with the same content as success (see CreateOnce).
	Create(ctx context.Context, key string, content []byte) error
	// Replace stores an object whether or not the key exists. It has two uses only. Hints
	// (copies of manifests) are replaced by newer ones. Repair and the frontier put back the
	// bytes that a damaged object was written with.
	Replace(ctx context.Context, key string, content []byte) error
	// Delete deletes an object. It is no error if the object is absent.
	Delete(ctx context.Context, key string) error
}

// Check returns an error if the range has none of the forms in the table at Range: its
// length is negative, or its offset is negative and its length is not 0.
func (r Range) Check() error {
	if r.Length < 0 || (r.Offset < 0 && r.Length != 0) || r.Offset == math.MinInt64 {
		return fmt.Errorf("range of %d bytes from %d: want a length of 0 or more, and 0 for a suffix", r.Length, r.Offset)
	}
	return nil
}

// Within returns the bounds of the bytes that the range selects in an object of size
// bytes: content[from:to]. It fails with ErrRange if these bytes would begin at or after
// the end of the object. The zero Range never fails, not even for an empty object.
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

// Tail returns the end of an object, which contains the object's tail: a part whose size is stored in
// the very last bytes. First, Tail requests the last bytes, as many as the parameter suffix says. It
// passes them to the caller's function, which must return the size of the tail. If the bytes contain
// the tail, or are the whole object, Tail returns them. Otherwise it sends a second request, for
// exactly the tail. The error of Tail wraps the parameter damaged if the object is empty, or if the
// function fails.
func Tail(ctx context.Context, r Reader, key string, suffix int64, damaged error, size func(end []byte) (int64, error)) ([]byte, error) {
	end, err := r.Get(ctx, key, Range{Offset: -suffix})
	if errors.Is(err, ErrRange) {
		return nil, fmt.Errorf("%w: it is empty", damaged)
	}
	if err != nil {
		return nil, err
	}
	n, err := size(end)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", damaged, err)
	}
	if n <= int64(len(end)) || int64(len(end)) < suffix {
		return end, nil
	}
	return r.Get(ctx, key, Range{Offset: -n})
}

// List returns the objects below a prefix, in the order of their keys.
func List(ctx context.Context, r Reader, prefix string) (objects []Object, err error) {
	for object, err := range r.List(ctx, prefix, "") {
		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", prefix, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// Find returns the content of an object. If the object is absent, it returns found =
// false and no error.
func Find(ctx context.Context, r Reader, key string) (content []byte, found bool, err error) {
	content, err = r.Get(ctx, key, Range{})
	switch {
	case errors.Is(err, ErrAbsent):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("cannot read %s: %w", key, err)
	}
	return content, true, nil
}

// CreateOnce stores an object that may be stored already, because a message came twice or an
// answer was lost. If the object exists with the same content, CreateOnce succeeds; with other
// content, it fails with ErrExists. After ErrRetryable it checks whether the object exists,
// and tries once more if not.
func CreateOnce(ctx context.Context, b Bucket, key string, content []byte) error {
	for attempt := 1; ; attempt++ {
		err := b.Create(ctx, key, content)
		lost := errors.Is(err, ErrRetryable)
		if !lost && !errors.Is(err, ErrExists) {
			return err
		}
		same, errGet := holds(ctx, b, key, content)
		switch {
		case same:
			return nil
		case errGet == nil:
			return fmt.Errorf("cannot create %s with content of its own: %w", key, ErrExists)
		case !lost || !errors.Is(errGet, ErrAbsent):
			return errGet
		case attempt == 2:
			return err
		}
	}
}

// compared is the size of the ranges in which holds reads a large object, in bytes.
const compared = 8 << 20

// holds reports whether an object has this content. It fails if the object cannot be
// read.
func holds(ctx context.Context, r Reader, key string, content []byte) (bool, error) {
	if len(content) <= compared {
		stored, err := r.Get(ctx, key, Range{})
		return err == nil && bytes.Equal(stored, content), err
	}
	size, err := r.Head(ctx, key)
	if err != nil || size != int64(len(content)) {
		return false, err
	}
	for from := 0; from < len(content); from += compared {
		want := content[from:min(from+compared, len(content))]
		stored, err := r.Get(ctx, key, Range{Offset: int64(from), Length: int64(len(want))})
		if err != nil || !bytes.Equal(stored, want) {
			return false, err
		}
	}
	return true, nil
}
