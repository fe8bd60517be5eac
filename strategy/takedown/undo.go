package takedown

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

// with returns the document with further final entries, which cannot be taken back. The parameter version
// is the number under which the new document is to be published; Changed becomes this number if an entry
// is new. An entry of a known URL or site is left out, so that the known one keeps its time.
func (d Document) with(entries []Entry, version uint64) Document {
	known := newSet(Document{Entries: d.Entries}, 0)
	d.Entries = slices.Clone(d.Entries)
	for _, e := range entries {
		if known.add(e) {
			d.Entries = append(d.Entries, e)
			d.Changed = version
		}
	}
	return d
}

// without returns the document without pending entries of the same URLs and sites as the given ones.
func (d Document) without(entries []Entry) Document {
	var left []Pending
	out := setOf(0, entries)
	for _, p := range d.Pending {
		p.Entries = slices.DeleteFunc(slices.Clone(p.Entries), out.has)
		if len(p.Entries) > 0 {
			left = append(left, p)
		}
	}
	d.Pending = left
	if len(left) == 0 {
		d.Changed = 0
	}
	return d
}

// renewed returns the document with a new field Changed: the parameter version if the document has
// pending entries, otherwise 0. The callers pass the latest version in which the final entries
// can have changed, which may be later than the true one. Then some objects are only searched once more
// for pages that are to be erased.
func (d Document) renewed(version uint64) Document {
	if d.Entries == nil {
		d.Entries = []Entry{}
	}
	d.Changed = 0
	if len(d.Pending) > 0 {
		d.Changed = version
	}
	return d
}

// Suspend publishes a version of the takedowns with further pending entries, which can be taken back
// until the given time. Entries that the takedowns have already stay as they are. It returns the version
// that is in force then.
func Suspend(ctx context.Context, bucket blob.Bucket, until time.Time, entries ...Entry) (version uint64, err error) {
	if err := (Document{Entries: entries}).Validate(); err != nil || len(entries) == 0 {
		return 0, errors.Join(errors.New("cannot forget"), err)
	}
	_, version, err = store.Publish(ctx, bucket, func(current Document, version uint64) (Document, bool) {
		known := newSet(current, 0).Hidden()
		var added []Entry
		for _, e := range entries {
			if known.add(e) {
				added = append(added, e)
			}
		}
		current.Pending = append(slices.Clone(current.Pending), Pending{second(until), added})
		return current.renewed(version - 1), len(added) > 0
	})
	return version, err
}

// Seal makes pending entries final whose time is over at the time now: it publishes a version of the
// takedowns that has them among the final entries. From then on their pages may be erased. If the time of
// no entry is over, it publishes nothing.
func Seal(ctx context.Context, bucket blob.Bucket, now time.Time) error {
	_, _, err := store.Publish(ctx, bucket, func(current Document, version uint64) (Document, bool) {
		var due []Entry
		for _, p := range current.Pending {
			if !now.Before(p.Until) {
				due = append(due, p.Entries...)
			}
		}
		return current.with(due, version).without(due), len(due) > 0
	})
	if err != nil {
		return fmt.Errorf("cannot make takedowns final: %w", err)
	}
	return nil
}

// Undone is what Undo did with an entry.
type Undone int

// The results of Undo.
const (
	Unknown  Undone = iota // no takedown has the entry
	Restored               // it was pending: its pages are shown again
	Lifted                 // its pages are erased, but may be crawled again
	TooLate                // its pages are being erased, and it stays
)

// Undo publishes a version of the takedowns without the given entries, and returns for each of them what
// it did. A pending entry is always removed. A final entry is removed only when its pages are erased
// everywhere; before that, its page could be shown although the record of its fetch is erased. The
// parameter erased is the lowest Manifest.Forgotten of all partitions: every partition has erased the
// pages of the takedowns up to this version. If no entry can be removed, Undo publishes nothing.
func Undo(ctx context.Context, bucket blob.Bucket, erased uint64, entries ...Entry) ([]Undone, error) {
	before, err := Load(ctx, bucket)
	if err != nil {
		return nil, err
	}
	results := make([]Undone, len(entries))
	_, _, err = store.Publish(ctx, bucket, func(current Document, version uint64) (Document, bool) {
		now := newSet(current, version-1)
		next, changed := current.without(entries), false
		lifted := setOf(0, nil)
		for i, e := range entries {
			switch {
			case now.has(e) && before.has(e) && erased >= before.Version:
				results[i] = Lifted
				lifted.add(e)
			case now.has(e):
				results[i] = TooLate
			case now.Hidden().has(e):
				results[i] = Restored
			default:
				results[i] = Unknown
			}
			changed = changed || results[i] == Restored || results[i] == Lifted
		}
		next.Entries = slices.DeleteFunc(slices.Clone(current.Entries), lifted.has)
		return next.renewed(version - 1), changed
	})
	return results, err
}

// Added returns the entries, final or pending, that one call of Forget or Suspend has added: those that this
// version of the takedowns has and the version before it lacks. It fails with blob.ErrAbsent if there is no such
// version.
func Added(ctx context.Context, bucket blob.Reader, version uint64) ([]Entry, error) {
	next, err := versionAt(ctx, bucket, version)
	if err != nil {
		return nil, err
	}
	var before Document
	if version > 1 {
		if before, err = versionAt(ctx, bucket, version-1); err != nil {
			return nil, err
		}
	}
	known := newSet(before, 0).Hidden()
	all := next.Entries
	for _, p := range next.Pending {
		all = slices.Concat(all, p.Entries)
	}
	return slices.DeleteFunc(slices.Clone(all), known.has), nil
}

// versionAt returns one version of the takedowns. It fails with blob.ErrAbsent if there is none.
func versionAt(ctx context.Context, bucket blob.Reader, version uint64) (Document, error) {
	key := layout.TakedownKey(version)
	size, err := bucket.Head(ctx, key)
	if err != nil {
		return Document{}, fmt.Errorf("cannot read takedown %d: %w", version, err)
	}
	found, err := store.Among(ctx, bucket, []blob.Object{{Key: key, Size: size}})
	if err == nil && len(found.Damaged) > 0 {
		err = fmt.Errorf("cannot read takedown %d: %w", version, numbered.ErrDamaged)
	}
	return found.Document, err
}
