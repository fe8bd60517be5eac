// Package blob is the contract of the object store: the few operations that
// the search engine needs and that every S3-compatible store has.
package blob

import (
	"context"
	"errors"
	"iter"
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
	// Replace stores an object whether or not the key exists. For hints only.
	Replace(ctx context.Context, key string, content []byte) error
	// Delete removes an object; an absent one is no error.
	Delete(ctx context.Context, key string) error
}
