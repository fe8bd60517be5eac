package rules

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

// MaxBytes is the largest document that is read or written.
const MaxBytes = 4 << 20

func store(kind Kind) numbered.Store[Document] {
	return numbered.Store[Document]{
		Prefix: layout.StrategyPrefix(string(kind)),
		Key:    func(version uint64) string { return layout.StrategyKey(string(kind), version) },
		Most:   MaxBytes,
	}
}

// Load returns the newest version of a strategy, or blob.ErrAbsent. It takes
// one LIST and one GET.
func Load(ctx context.Context, bucket blob.Reader, kind Kind) (Document, error) {
	d, version, err := store(kind).Newest(ctx, bucket)
	if err != nil {
		return Document{}, err
	}
	if version == 0 {
		return Document{}, fmt.Errorf("cannot load the %s strategy: %w", kind, blob.ErrAbsent)
	}
	return d, d.isNot(kind, version)
}

// Republish publishes the version in force again, if a later one is damaged, and
// returns its number, else 0. When the first version is the only one, that was
// Even of as many partitions as there are; else it fails with
// numbered.ErrDamaged when no version can be read.
func Republish(ctx context.Context, bucket blob.Bucket, kind Kind, partitions int, now time.Time) (uint64, error) {
	return store(kind).Republish(ctx, bucket, func(d Document, version uint64) (Document, error) {
		if d.Version == 0 {
			if version != 2 {
				return d, numbered.ErrDamaged
			}
			d = Even(kind, partitions, now)
		}
		d.Version = version
		return d, nil
	})
}

// Publish stores a document. The same document again is success; another one
// under its version fails with blob.ErrExists, one with Faults is refused.
func Publish(ctx context.Context, bucket blob.Bucket, d Document) error {
	err := d.publishable()
	if err == nil {
		err = store(d.Kind).Create(ctx, bucket, d.Version, d)
	}
	if err != nil {
		return fmt.Errorf("cannot publish strategy %s: %w", layout.StrategyKey(string(d.Kind), d.Version), err)
	}
	return nil
}
