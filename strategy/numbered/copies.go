package numbered

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// keepCopy stores the bytes of a version as the version's copy. It does nothing if these bytes have
// no valid seal (a checksum, see layout.Seal), or if a copy exists already.
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
// absent, or has no valid seal (a checksum, see layout.Seal): it is damaged, or of format 1.
func readSealed(ctx context.Context, bucket blob.Reader, key string) (content []byte, found bool, err error) {
	content, found, err = blob.Find(ctx, bucket, key)
	if err != nil || !found {
		return nil, false, err
	}
	_, sealed, err := layout.Unseal(content)
	return content, sealed && err == nil, nil
}

// Restore repairs the object with this key, which is a version or the copy of a version. It writes
// the bytes of the copy in place of a damaged or missing version, and those of the version in place
// of a damaged or missing copy. Then it returns true; the object has the bytes with which it was
// first written. If both objects are damaged or missing, Restore changes nothing and returns false.
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
