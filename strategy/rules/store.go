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

// MaxBytes is the maximum size of a strategy in JSON, in bytes.
const MaxBytes = 4 << 20

func store(kind Kind) numbered.Store[Document] {
	return numbered.Store[Document]{
		Prefix: layout.StrategyPrefix(string(kind)),
		Key:    func(version uint64) string { return layout.StrategyKey(string(kind), version) },
		Most:   MaxBytes,
	}
}

// Load returns the newest version of a strategy that can be read, even if it is not in
// force yet. It fails with blob.ErrAbsent if there is no version. It takes one LIST and,
// unless versions are damaged, one GET.
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

// Republish repairs a strategy with damaged versions: it publishes the newest readable version once
// more, under a new number. It does so if a newer version is damaged, or if that version can be read
// only from its copy. It returns the new number, or 0 if nothing is damaged.
//
// If no version can be read, Republish fails with numbered.ErrDamaged, unless version 1 is the only
// one. Version 1 of every strategy comes from the function Even. So Republish calls Even with this
// number of partitions, and publishes the result.
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

// PublishNext stores a document as the next version of its strategy, and returns it with the new
// number; d.Version is ignored. If the newest version differs only in its number and its From,
// PublishNext stores nothing and returns the newest version. If From is zero, it is set to the
// present time; if Standard is empty, it is set to address.Standard. A document with Faults is
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

// Publish stores a document as version d.Version. If this version exists already with the same
// document, Publish succeeds. If it exists with another document, Publish fails with
// blob.ErrExists. A document with Faults is refused.
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
