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
	// ErrUnchanged must be returned by the function that a caller passes to Commit, if there is
	// nothing to commit.
	ErrUnchanged = manifest.ErrUnchanged
	// ErrStale means that a commit was prepared for a partition that has changed meanwhile: a
	// stored object is too old to be listed, or was condemned (marked for deletion); a batch is
	// consumed already; or an object to be replaced is not listed. The caller must begin again.
	ErrStale = errors.New("the partition has changed")
	// ErrLost means that the manifests of a partition are lost: it has packages, books,
	// segments or overlays, but no generation.
	ErrLost = errors.New("its generations are lost")
)

// Fresh is the longest time that a commit may take. A new generation must be stored within Fresh of
// two moments: when its base (the generation before) was read, and when the objects that it adds
// were stored. Fresh is much shorter than the grace, after which unlisted objects are deleted.
const Fresh = manifest.Fresh

// Partition is a storage partition, with the newest generation of its manifest as last read. It is
// not safe for concurrent use.
type Partition struct {
	bucket blob.Bucket
	now    func() time.Time
	newest *manifest.Manifest // newest generation as last read or committed; never changed, only replaced by another one
	// for each list of condemned objects, by its key: the sorted hashes of the keys in the list
	condemned map[string][]uint64
}

// Open reads the newest generation of a partition's manifest. A partition without objects and
// generations is new, which is no error. Open fails with a Fault that wraps ErrLost if there
// are objects but no generation, or manifest.ErrDamaged if the newest generation is damaged.
func Open(ctx context.Context, bucket blob.Bucket, id layout.Partition, now func() time.Time) (*Partition, error) {
	p := &Partition{bucket: bucket, now: now, newest: &manifest.Manifest{Partition: id}}
	if err := p.Reload(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// Read returns the newest generation of a partition's manifest that can be read, or the zero
// Manifest if the partition is new. It fails with a Fault that wraps ErrLost if there are objects
// but no generation, or manifest.ErrDamaged if no generation can be read. It sends the requests of
// manifest.Read; without a generation it also lists packages, books, segments and overlays.
func Read(ctx context.Context, bucket blob.Reader, id layout.Partition) (manifest.Manifest, error) {
	return reread(ctx, bucket, manifest.Manifest{Partition: id})
}

// reread does the same as Read. The parameter known is a generation that was read before, or the zero
// Manifest of the partition (see manifest.Reread).
func reread(ctx context.Context, bucket blob.Reader, known manifest.Manifest) (manifest.Manifest, error) {
	id := known.Partition
	newest, err := manifest.Reread(ctx, bucket, known)
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
	// The partition may have been begun meanwhile. Its first generation was committed
	// before its first object was stored, so a second reading finds it.
	if newest, err = manifest.Read(ctx, bucket, id); err == nil && newest.Generation == 0 {
		err = fmt.Errorf("partition %s holds %s and no manifest that lists it: %w", id, found, ErrLost)
	}
	return newest, fault(err)
}

// firstObjects yields up to four keys: of the first package, book, segment and overlay of
// a partition. Kinds that the partition does not have are left out.
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

// Manifest returns the generation that the last Open, Reload or Commit read or made.
// The caller must not change it.
func (p *Partition) Manifest() *manifest.Manifest { return p.newest }

// Reload reads the newest generation again. It fails as Open does.
func (p *Partition) Reload(ctx context.Context) error {
	newest, err := reread(ctx, p.bucket, *p.newest)
	if err == nil {
		err = newest.Later()
	}
	if err == nil {
		p.newest = &newest
	}
	return fault(err)
}

// Begin commits an empty first generation of the partition's manifest if there is none.
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

// Commit calls the function edit to make the next generation from the newest one, and commits it.
// If another committer was faster, Commit calls the function again with a newer base; so the
// function must compute anew all that depends on the base. If the function returns ErrUnchanged,
// Commit commits nothing and returns nil. If it returns another error, Commit commits nothing and
// returns this error. Afterwards Manifest returns the newest generation.
func (p *Partition) Commit(ctx context.Context, edit func(*Edit) error) error {
	newest, err := manifest.CommitAfter(ctx, p.bucket, *p.newest, p.now, func(m *manifest.Manifest) error {
		if m.Generation == 0 {
			if _, err := Read(ctx, p.bucket, p.ID()); err != nil {
				return err
			}
		}
		e := &Edit{next: m, bucket: p.bucket, now: p.now}
		before := e.texts()
		if err := edit(e); err != nil {
			return err
		}
		e.condemnTexts(before)
		return e.spare(ctx)
	})
	if err == nil {
		p.newest = &newest
	}
	return fault(err)
}
