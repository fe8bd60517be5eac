package merge

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// asideTime is after how long it is looked whether a damaged segment has been
// repaired. Else every sweep would have it read, and what is merged with it.
const asideTime = time.Hour

// aside are the segments that cannot be read, and since when that is known.
type aside struct {
	mu    sync.Mutex
	since map[string]time.Time // protected by mu
}

func (a *aside) add(key string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since == nil {
		a.since = make(map[string]time.Time)
	}
	a.since[key] = now
}

// has reports whether a segment need not be tried now. A clock that went back
// has it tried.
func (a *aside) has(key string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	since, found := a.since[key]
	if age := now.Sub(since); found && (age < 0 || age >= asideTime) {
		delete(a.since, key)
		return false
	}
	return found
}

// mergeable is what is to be merged next of what can be read.
func (f *Function) mergeable(m *manifest.Manifest) []manifest.Segment {
	readable := *m
	readable.Segments = slices.DeleteFunc(slices.Clone(m.Segments), func(s manifest.Segment) bool { return f.aside.has(s.Key, f.Now()) })
	return f.Tiers.Mergeable(&readable)
}

// setAside looks for those of some segments that cannot be read, and reports
// whether there is one.
func (f *Function) setAside(ctx context.Context, listed []manifest.Segment) (found bool) {
	for _, s := range listed {
		if err := f.check(ctx, &s); partition.IsDamaged(err) {
			f.aside.add(s.Key, f.Now())
			found = true
			f.Log.ErrorContext(ctx, "a segment cannot be read, and others are merged without it until it is repaired", "key", s.Key, "error", err)
		}
	}
	return found
}

// check reads every byte of a segment and its deletions.
func (f *Function) check(ctx context.Context, s *manifest.Segment) error {
	content, err := f.Bucket.Get(ctx, s.Key, blob.Range{})
	if err != nil {
		return err
	}
	if err := segment.Check(content); err != nil {
		return err
	}
	if _, err := partition.OpenSegment(ctx, segment.Bytes(content), s); err != nil {
		return err
	}
	_, err = partition.Dead(ctx, f.Bucket, s)
	return err
}
