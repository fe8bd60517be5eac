package partition

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

var (
	// ErrUnchanged, returned by an edit, says that nothing is left to commit.
	ErrUnchanged = manifest.ErrUnchanged
	// ErrStale, returned by an edit, says that what was prepared for the commit
	// does not fit any more: a ticket is too old or its key is condemned, a
	// batch is consumed, an object to be replaced is not listed. Begin again.
	ErrStale = errors.New("the partition has changed")
	// ErrLost says that a partition has objects and no generation that lists
	// them.
	ErrLost = errors.New("its generations are lost")
)

// Fresh is how long ago the base of a commit may have been read, and the objects that
// it lists may have been put. It is much shorter than the grace of the collector.
const Fresh = manifest.Fresh

// Partition is a storage partition and the newest generation that was read. It is not
// safe for concurrent use.
type Partition struct {
	bucket blob.Bucket
	now    func() time.Time
	newest *manifest.Manifest // never changed, but replaced
}

// Open reads the newest generation of a partition. A partition without objects and
// generations is new; its first generation is committed before its first object is
// put. Open fails with a Fault: ErrLost if there are objects and no generation,
// manifest.ErrDamaged if the last generation is damaged.
func Open(ctx context.Context, bucket blob.Bucket, id layout.Partition, now func() time.Time) (*Partition, error) {
	p := &Partition{bucket: bucket, now: now, newest: &manifest.Manifest{Partition: id}}
	if err := p.Reload(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// Read returns the newest readable generation of a partition, the zero generation of
// a new one. It fails with a Fault if none can be read: ErrLost or
// manifest.ErrDamaged. It sends the requests of manifest.Read; without a generation
// it lists packages, books, segments and overlays, too.
func Read(ctx context.Context, bucket blob.Reader, id layout.Partition) (manifest.Manifest, error) {
	newest, err := manifest.Read(ctx, bucket, id)
	if err != nil || newest.Generation > 0 {
		return newest, fault(err)
	}
	found := ""
	for key, err := range firstObjects(ctx, bucket, id) {
		if err != nil {
			return newest, err
		}
		found = key
		break
	}
	if found == "" {
		return newest, nil
	}
	// Another may have begun the partition since: its first generation is older
	// than its first object.
	if newest, err = manifest.Read(ctx, bucket, id); err == nil && newest.Generation == 0 {
		err = fmt.Errorf("partition %s holds %s and no manifest that lists it: %w", id, found, ErrLost)
	}
	return newest, fault(err)
}

// firstObjects yields the key of one object of each kind that a generation lists, if
// there is any.
func firstObjects(ctx context.Context, bucket blob.Reader, id layout.Partition) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, kind := range []string{layout.Packages, layout.Books, layout.Segments, layout.Overlays} {
			prefix := kind + id.String() + "/"
			for object, err := range bucket.List(ctx, prefix, "") {
				if err != nil {
					yield("", fmt.Errorf("cannot list %s: %w", prefix, err))
					return
				}
				if layout.IsForeign(object.Key) {
					continue
				}
				if !yield(object.Key, nil) {
					return
				}
				break
			}
		}
	}
}

// ID returns the identifier of the partition.
func (p *Partition) ID() layout.Partition { return p.newest.Partition }

// Manifest returns the generation that Open, Reload or the last Commit found. The
// caller must not change it.
func (p *Partition) Manifest() *manifest.Manifest { return p.newest }

// Reload reads the newest generation again.
func (p *Partition) Reload(ctx context.Context) error {
	newest, err := Read(ctx, p.bucket, p.ID())
	if err == nil {
		err = newest.Later()
	}
	if err == nil {
		p.newest = &newest
	}
	return fault(err)
}

// Begin commits an empty first generation if the partition has none, so that readers
// find a hint and need not list.
func (p *Partition) Begin(ctx context.Context) error {
	if p.newest.Generation > 0 {
		return nil
	}
	return p.Commit(ctx, func(e *Edit) error {
		if e.Manifest().Generation > 0 {
			return ErrUnchanged
		}
		return nil
	})
}

// Commit commits the next generation. It calls edit on the newest generation, and
// again whenever another committer was faster, so edit must compute anew all that
// depends on it. If edit returns ErrUnchanged, Commit commits nothing and returns nil;
// any other error of edit ends it. Afterwards Manifest is the newest generation.
func (p *Partition) Commit(ctx context.Context, edit func(*Edit) error) error {
	newest, err := manifest.Commit(ctx, p.bucket, p.ID(), p.now, func(m *manifest.Manifest) error {
		if m.Generation == 0 {
			if _, err := Read(ctx, p.bucket, p.ID()); err != nil {
				return err
			}
		}
		return edit(&Edit{next: m, bucket: p.bucket, now: p.now})
	})
	if err == nil {
		p.newest = &newest
	}
	return fault(err)
}
