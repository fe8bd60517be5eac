package rules

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

// MaxBytes is the largest document that is read or written, in bytes.
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
	return d, d.checkIdentity(kind, version)
}

// Republish publishes the version in force again if a later one is damaged, and
// returns the new number, else 0. If the only version is damaged, it publishes Even
// with the present number of partitions, since the first version always was that;
// else it fails with numbered.ErrDamaged when no version can be read.
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

// PublishNext stores a document as the next version of its strategy, whatever
// d.Version is, and returns it. If the newest version is the same except for its
// number and start, PublishNext returns that one. Omitted fields get their defaults:
// the version starts now, under this program's standard. A document with Faults is
// refused.
func PublishNext(ctx context.Context, bucket blob.Bucket, d Document, now time.Time) (Document, error) {
	if d.From.IsZero() {
		d.From = now.UTC().Truncate(time.Millisecond)
	}
	d.Standard, d.Version = cmp.Or(d.Standard, address.Standard), 1
	err := d.checkPublishable()
	if err != nil {
		return Document{}, fmt.Errorf("cannot publish the %s strategy: %w", d.Kind, err)
	}
	published, _, err := store(d.Kind).Publish(ctx, bucket, func(current Document, version uint64) (Document, bool) {
		same := d
		same.Version, same.From = current.Version, current.From
		if reflect.DeepEqual(same, current) {
			return current, false
		}
		d.Version = version
		return d, true
	})
	return published, err
}

// Publish stores a document. Storing the same document again succeeds; another one
// under its version fails with blob.ErrExists, and one with Faults is refused.
func Publish(ctx context.Context, bucket blob.Bucket, d Document) error {
	err := d.checkPublishable()
	if err == nil {
		err = store(d.Kind).Create(ctx, bucket, d.Version, d)
	}
	if err != nil {
		return fmt.Errorf("cannot publish strategy %s: %w", layout.StrategyKey(string(d.Kind), d.Version), err)
	}
	return nil
}
