package rules

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

// MaxBytes is the largest document that is read or written.
const MaxBytes = 4 << 20

// Load returns the newest version of a strategy, or blob.ErrAbsent. It takes
// one LIST and one GET.
func Load(ctx context.Context, bucket blob.Reader, kind Kind) (Document, error) {
	prefix := layout.StrategyPrefix(string(kind))
	var newest blob.Object
	for object, err := range bucket.List(ctx, prefix, "") {
		if err != nil {
			return Document{}, fmt.Errorf("cannot list %s: %w", prefix, err)
		}
		if _, _, err := layout.ParseStrategyKey(object.Key); err == nil {
			newest = object
		}
	}
	if newest.Key == "" {
		return Document{}, fmt.Errorf("cannot load the %s strategy: %w", kind, blob.ErrAbsent)
	}
	if newest.Size > MaxBytes {
		return Document{}, fmt.Errorf("cannot read strategy %s: %d bytes, more than %d", newest.Key, newest.Size, MaxBytes)
	}
	content, err := bucket.Get(ctx, newest.Key, blob.Range{})
	if err != nil {
		return Document{}, fmt.Errorf("cannot read strategy %s: %w", newest.Key, err)
	}
	d, err := numbered.Decode[Document](content)
	if err != nil {
		return Document{}, fmt.Errorf("cannot read strategy %s: %w", newest.Key, err)
	}
	if key := layout.StrategyKey(string(d.Kind), d.Version); key != newest.Key {
		return Document{}, fmt.Errorf("cannot read strategy %s: it says that it is %s", newest.Key, key)
	}
	return d, nil
}

// Publish stores a document. The same document again is success; another one
// under its version fails with blob.ErrExists.
func Publish(ctx context.Context, bucket blob.Bucket, d Document) error {
	key := layout.StrategyKey(string(d.Kind), d.Version)
	if err := d.Validate(); err != nil {
		return fmt.Errorf("cannot publish strategy %s: %w", key, err)
	}
	content, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("cannot publish strategy %s: %w", key, err)
	}
	if len(content) > MaxBytes {
		return fmt.Errorf("cannot publish strategy %s: %d bytes, more than %d", key, len(content), MaxBytes)
	}
	if err := blob.CreateOnce(ctx, bucket, key, content); err != nil {
		return fmt.Errorf("cannot publish strategy %s: %w", key, err)
	}
	return nil
}
