package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

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
