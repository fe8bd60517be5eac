package partition

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// ReadCondemnedList reads the records of condemned objects in a list. The parameter is the list's entry
// in a manifest. The error wraps manifest.ErrDamaged if the list is damaged or missing.
func ReadCondemnedList(ctx context.Context, bucket blob.Reader, listed manifest.CondemnedList) ([]manifest.Condemned, error) {
	content, err := bucket.Get(ctx, listed.Key, blob.Range{})
	var records []manifest.Condemned
	switch {
	case errors.Is(err, blob.ErrAbsent):
		err = fmt.Errorf("%w: %v", manifest.ErrDamaged, err)
	case err == nil:
		records, err = listed.Decode(content)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read condemned objects %s: %w", listed.Key, err)
	}
	return records, nil
}

// readCondemned reads several lists at the same time. For each, it calls the function read with the index of the
// list and its records. It makes these calls from several goroutines.
func readCondemned(ctx context.Context, bucket blob.Reader, lists []manifest.CondemnedList, read func(i int, records []manifest.Condemned)) error {
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, l := range lists {
		group.Go(func() error {
			records, err := ReadCondemnedList(fork.Branch(), bucket, l)
			if err == nil {
				read(i, records)
			}
			return err
		})
	}
	return fault(group.Wait())
}

// CondemnedKeys returns the keys of all objects that a generation has condemned (marked for deletion). If
// a list of condemned objects is damaged or missing, CondemnedKeys returns the other keys, and an error
// that wraps manifest.ErrDamaged.
func CondemnedKeys(ctx context.Context, bucket blob.Reader, m *manifest.Manifest) (map[string]bool, error) {
	lists := make([][]manifest.Condemned, len(m.CondemnedLists))
	err := readCondemned(ctx, bucket, m.CondemnedLists, func(i int, records []manifest.Condemned) { lists[i] = records })
	keys := make(map[string]bool)
	for _, records := range append(lists, m.Condemned) {
		for _, c := range records {
			keys[c.Key] = true
		}
	}
	return keys, err
}

// knownKeys returns the keys of all objects that a generation lists or has condemned. It fails as
// CondemnedKeys does.
func knownKeys(ctx context.Context, bucket blob.Reader, m *manifest.Manifest) (map[string]bool, error) {
	known, err := CondemnedKeys(ctx, bucket, m)
	for key := range m.Objects() {
		known[key] = true
	}
	return known, err
}

// isCondemned reports whether the newest generation has condemned the object with the key. It reads each list of
// condemned objects once, and keeps only hashes of the keys in it. If two keys had the same hash, which is very
// unlikely, one might wrongly count as condemned; its object would then be stored under another key.
func (p *Partition) isCondemned(ctx context.Context, key string) (bool, error) {
	if p.newest.IsCondemned(key) {
		return true, nil
	}
	lists := p.newest.CondemnedLists
	hashes := make([][]uint64, len(lists))
	unread := slices.DeleteFunc(slices.Clone(lists), func(l manifest.CondemnedList) bool { return p.condemned[l.Key] != nil })
	err := readCondemned(ctx, p.bucket, unread, func(i int, records []manifest.Condemned) {
		for _, c := range records {
			hashes[i] = append(hashes[i], hashOf(c.Key))
		}
		slices.Sort(hashes[i])
	})
	if err != nil {
		return false, err
	}
	now := make(map[string][]uint64, len(lists))
	for i, l := range unread {
		now[l.Key] = hashes[i]
	}
	found := false
	for _, l := range lists {
		if now[l.Key] == nil {
			now[l.Key] = p.condemned[l.Key]
		}
		_, has := slices.BinarySearch(now[l.Key], hashOf(key))
		found = found || has
	}
	p.condemned = now
	return found, nil
}

func hashOf(key string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	return h.Sum64()
}

// ListCondemned moves old records of condemned objects from the manifest to a new list, which it stores. A record
// is moved if
//
//	its object was condemned before the given time
//	its object is not deleted yet
//	its object need not be deleted before the usual time (see manifest.Condemned.Erase)
//
// At most the given number of records is moved. The result says whether a list was made. The given time should be
// at least twice Fresh ago. Otherwise the list may have records that are newer than the tickets of objects still
// to be listed, and these tickets are worthless (see Edit.listable).
func (e *Edit) ListCondemned(ctx context.Context, before time.Time, most int) (changed bool, err error) {
	var moved, left []manifest.Condemned
	for _, c := range e.next.Condemned {
		if len(moved) < most && c.At.Before(before) && c.Gone.IsZero() && !c.Erase {
			moved = append(moved, c)
		} else {
			left = append(left, c)
		}
	}
	if moved == nil {
		return false, nil
	}
	content, listed, err := manifest.EncodeCondemned(moved)
	if err != nil {
		return false, err
	}
	if listed.Key, err = e.putOverlay(ctx, content); err != nil {
		return false, err
	}
	e.next.Condemned, e.next.CondemnedLists = left, append(e.next.CondemnedLists, listed)
	return true, nil
}

// CollectedLists records the deletion of the objects of whole lists, as Collected does for single objects.
func (e *Edit) CollectedLists(deleted, over func(manifest.CondemnedList) bool) (changed bool) {
	e.next.CondemnedLists, changed = collected(e.next.CondemnedLists, e.now(), func(l *manifest.CondemnedList) *time.Time { return &l.Gone }, deleted, over)
	return changed
}

// DropCondemnedList removes a damaged or missing list of condemned objects from the manifest. Only repair calls
// it. Those of the objects in the list that still exist are then in no generation, so the sweep condemns them
// again.
func (e *Edit) DropCondemnedList(key string) {
	e.next.CondemnedLists = slices.DeleteFunc(e.next.CondemnedLists, func(l manifest.CondemnedList) bool { return l.Key == key })
}

// spare removes records from the lists of condemned objects: those of the keys with which uncondemn was called.
// All other records of such a list return to the manifest.
func (e *Edit) spare(ctx context.Context) error {
	if len(e.spared) == 0 {
		return nil
	}
	lists := e.next.CondemnedLists
	read := make([][]manifest.Condemned, len(lists))
	err := readCondemned(ctx, e.bucket, lists, func(i int, records []manifest.Condemned) { read[i] = records })
	if err != nil {
		return err
	}
	e.next.CondemnedLists = nil
	for i, l := range lists {
		left := slices.DeleteFunc(read[i], func(c manifest.Condemned) bool { return e.spared[c.Key] })
		if len(left) == l.Records {
			e.next.CondemnedLists = append(e.next.CondemnedLists, l)
			continue
		}
		for _, c := range left {
			c.Erase, c.Gone = c.Erase || l.Erase, l.Gone
			e.next.Condemned = append(e.next.Condemned, c)
		}
	}
	return nil
}
