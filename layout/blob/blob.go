// Package blob is the contract of the object store: the few operations that
// the search engine needs and that every S3-compatible store has.
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

// Errors that every implementation wraps, so that callers tell them apart by
// errors.Is whatever the store.
var (
	// ErrAbsent: no object has this key.
	ErrAbsent = errors.New("object is absent")
	// ErrExists: a create-if-absent found an object under this key.
	ErrExists = errors.New("object exists")
	// ErrRetryable: the store did not answer, or said that it is busy; the
	// operation may or may not have happened, and may be tried again.
	ErrRetryable = errors.New("object store is not available")
	// ErrRange: the range begins at or behind the end of the object.
	ErrRange = errors.New("range is outside of the object")
)

// Object is one entry of a listing.
type Object struct {
	Key  string
	Size int64
	// Modified is when the object was stored, by the store's clock and to the
	// second at least: good for judging what is a day old, and for nothing that
	// must be right.
	Modified time.Time
}

// Range selects bytes of an object: Length bytes from Offset. A negative
// Offset selects the last -Offset bytes (Length must be 0); Length 0 reads to
// the end. The zero Range is the whole object. A range that reaches over the
// end is cut there.
type Range struct {
	Offset, Length int64
}

// Reader reads objects. Implementations are safe for concurrent use.
type Reader interface {
	// Get returns the bytes in the range. One call is one request.
	// It fails with ErrAbsent, ErrRange or ErrRetryable.
	Get(ctx context.Context, key string, r Range) ([]byte, error)
	// Head returns the size of an object, or ErrAbsent.
	Head(ctx context.Context, key string) (int64, error)
	// List yields the objects whose keys begin with prefix and sort behind
	// startAfter, in the order of their keys. An error ends the sequence.
	List(ctx context.Context, prefix, startAfter string) iter.Seq2[Object, error]
}

// Bucket also writes. Implementations are safe for concurrent use.
type Bucket interface {
	Reader
	// Create stores an object if the key is absent, else it fails with
	// ErrExists. After ErrRetryable it may have happened: call again and
	// take ErrExists with the same content for success (see CreateOnce).
	Create(ctx context.Context, key string, content []byte) error
	// Replace stores an object whether or not the key exists. For hints, and for
	// the repair that puts bytes back where they were written.
	Replace(ctx context.Context, key string, content []byte) error
	// Delete removes an object; an absent one is no error.
	Delete(ctx context.Context, key string) error
}

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

// Tail returns the end of an object: suffix bytes of it, or all that size says
// of these bytes, if that is more, by a second request. Where size fails, or the
// object is empty, the error wraps damaged.
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

// Find returns an object, found being false when it is absent.
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

// CreateOnce stores an object that may have been stored already, by a message
// delivered twice or by an attempt whose answer was lost. An object that
// exists with the same content is success; one with other content fails with
// ErrExists. After ErrRetryable it looks whether the object is there, and tries
// once more if not.
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

// holds reports whether an object has this content.
func holds(ctx context.Context, r Reader, key string, content []byte) (bool, error) {
	stored, err := r.Get(ctx, key, Range{})
	return err == nil && bytes.Equal(stored, content), err
}
