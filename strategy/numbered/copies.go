package numbered

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// keepCopy stores content, the bytes of a version, as the version's copy. It does nothing if
// content has no valid seal (see layout.Seal), or if a copy exists already.
func (s Store[T]) keepCopy(ctx context.Context, bucket blob.Bucket, version uint64, content []byte) error {
	if _, sealed, err := layout.Unseal(content); err != nil || !sealed {
		return nil // there is no version, or it is of format 1; the next version gets a copy
	}
	key := layout.CopyKey(s.Key(version))
	_, err := bucket.Head(ctx, key)
	if errors.Is(err, blob.ErrAbsent) {
		err = blob.CreateOnce(ctx, bucket, key, content)
	}
	if err != nil && !errors.Is(err, blob.ErrExists) {
		return fmt.Errorf("it is published, and its copy cannot be stored: %w", err)
	}
	return nil
}

// readSealed returns the content of the object with the key. found is false if the object is
// absent, or has no valid seal (see layout.Seal): it is damaged, or of format 1.
func readSealed(ctx context.Context, bucket blob.Reader, key string) (content []byte, found bool, err error) {
	content, found, err = blob.Find(ctx, bucket, key)
	if err != nil || !found {
		return nil, false, err
	}
	_, sealed, err := layout.Unseal(content)
	return content, sealed && err == nil, nil
}

// Restore repairs a damaged or missing object, a version or the copy of one. It writes the bytes of
// the copy in place of the version, or those of the version in place of the copy, and returns true.
// The object then has the bytes with which it was first written. If the other object is absent or
// damaged, too, Restore changes nothing and returns false.
func Restore(ctx context.Context, bucket blob.Bucket, key string) (restored bool, err error) {
	content, found, err := readSealed(ctx, bucket, layout.TwinKey(key))
	if err != nil || !found {
		return false, err
	}
	if is, there, err := blob.Find(ctx, bucket, key); err != nil || there && bytes.Equal(is, content) {
		return true, err
	}
	if err := bucket.Replace(ctx, key, content); err != nil {
		return false, fmt.Errorf("cannot restore %s: %w", key, err)
	}
	return true, nil
}
