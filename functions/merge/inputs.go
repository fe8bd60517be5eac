package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// input is a segment to be merged.
type input struct {
	manifest.Segment
	opened *segment.Segment
	dead   *roaring.Bitmap // documents that were dead when the merge began: the merge leaves them out
}

// open opens the listed segments and reads their dead documents, in parallel.
func (f *Function) open(ctx context.Context, listed []manifest.Segment) ([]*input, error) {
	all := make([]*input, len(listed))
	group, within := errgroup.WithContext(ctx)
	for i, s := range listed {
		group.Go(func() (err error) {
			in := &input{Segment: s}
			source, err := f.source(within, s.Key, s.Bytes)
			if err != nil {
				return err
			}
			if in.opened, err = partition.OpenSegment(within, source, &s); err != nil {
				return err
			}
			in.dead, err = partition.Dead(within, f.Bucket, &s)
			all[i] = in
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return all, nil
}

// source returns a source for reading a segment or anchors with this key and size in bytes. An object of the two
// smallest size classes (up to 8 MiB, see segments.DefaultLimits) is read whole, with one request. Of a larger one,
// each column is read with a request of its own.
func (f *Function) source(ctx context.Context, key string, size int64) (segment.Source, error) {
	if size > f.Tiers.Least*int64(f.Tiers.Tier) {
		return segment.Ranges{Bucket: f.Bucket}, nil
	}
	content, err := f.Bucket.Get(ctx, key, blob.Range{})
	if err != nil {
		return nil, fmt.Errorf("cannot read segment %s: %w", key, err)
	}
	return segment.Bytes(content), nil
}

// forSegment returns the inputs in the form that segment.Merge takes.
func forSegment(inputs []*input) []segment.Input {
	all := make([]segment.Input, len(inputs))
	for i, in := range inputs {
		all[i] = segment.Input{Segment: in.opened, Dead: in.dead}
	}
	return all
}

// mostBytes returns the greatest size in bytes that the merged segment may have: twice the sum of
// the inputs' sizes, plus 1 MiB.
func mostBytes(inputs []*input) (most int64) {
	most = 1 << 20
	for _, in := range inputs {
		most += 2 * in.Bytes
	}
	return most
}

// parts returns the packages that have live documents in the input, each with the number of these
// documents, in the order of the documents.
func (in *input) parts() (parts []manifest.Part) {
	from := 0
	for _, part := range in.Parts {
		to := from + part.Documents
		if left := part.Documents - count(in.dead, from, to); left > 0 {
			parts = append(parts, manifest.Part{Package: part.Package, Documents: left})
		}
		from = to
	}
	return parts
}

// late returns the documents of the input that died while the merge ran, by their new numbers. The
// merge has left out the documents that were dead when it began. It has numbered the other
// documents of the input anew, from 0. The parameter dead has the old numbers of all documents of
// the input that are dead now.
func (in *input) late(dead *roaring.Bitmap) []uint32 {
	numbers := roaring.AndNot(dead, in.dead).ToArray()
	for i, doc := range numbers {
		numbers[i] = doc - uint32(count(in.dead, 0, int(doc)))
	}
	return numbers
}

// count returns how many documents of a range are in the set. The range includes its beginning, and
// excludes its end.
func count(set *roaring.Bitmap, from, to int) int {
	below := func(doc int) int {
		if doc == 0 {
			return 0
		}
		return int(set.Rank(uint32(doc - 1)))
	}
	return below(to) - below(from)
}

// asideTime is how long merges leave out a segment that was found damaged or too large. After that, a merge
// tries it again, because it may have been repaired. Without asideTime, every merge would first
// choose the segment again, read it and the segments beside it, and fail.
const asideTime = time.Hour

// aside holds the segments that are not merged now because they cannot be read or are too large. It is safe
// for concurrent use.
type aside struct {
	mu    sync.Mutex           // protects the field since
	since map[string]time.Time // time at which a segment was set aside, by the key of the segment
}

func (a *aside) add(key string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since == nil {
		a.since = make(map[string]time.Time)
	}
	a.since[key] = now
}

// has reports whether a segment is set aside now: this happened less than asideTime ago. If
// that is longer ago, has removes the segment's entry. It also removes an entry whose time is in
// the future, which means that the clock was set back.
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

// mergeable returns the segments to be merged next, or nil if there is nothing to merge. It leaves
// out segments that were set aside in the last hour (asideTime). For the parameter ended, see segments.Limits.Mergeable.
func (f *Function) mergeable(m *manifest.Manifest, ended bool) []manifest.Segment {
	readable := *m
	readable.Segments = slices.DeleteFunc(slices.Clone(m.Segments), func(s manifest.Segment) bool { return f.aside.has(s.Key, f.Now()) })
	return f.Tiers.Mergeable(&readable, ended)
}

// setAside is called when the listed segments could not be merged because of the error err. It adds those that are the
// reason to f.aside, so that they are not merged for an hour (asideTime), and reports whether there were any. If err
// is that a segment is damaged, setAside reads each of them completely, to find out which it is. If the merged
// segment would be too large, all of them are the reason.
func (f *Function) setAside(ctx context.Context, listed []manifest.Segment, err error) (found bool) {
	tooLarge := errors.Is(err, segment.ErrTooLarge)
	if !tooLarge && !partition.IsDamaged(err) {
		return false
	}
	for _, s := range listed {
		if tooLarge {
			f.aside.add(s.Key, f.Now())
			found = true
			f.Log.ErrorContext(ctx, "a segment stays as it is, since it would be too large with its neighbours", "key", s.Key, "error", err)
			continue
		}
		if err := f.check(ctx, &s); partition.IsDamaged(err) {
			f.aside.add(s.Key, f.Now())
			found = true
			f.Log.ErrorContext(ctx, "a segment cannot be read, and others are merged without it until it is repaired", "key", s.Key, "error", err)
		}
	}
	return found
}

// check reads every byte of a segment and of its overlay of dead documents, and returns an error if
// one of them is damaged.
func (f *Function) check(ctx context.Context, s *manifest.Segment) error {
	content, free, found, err := scratch.Read(ctx, f.Bucket, s.Key, f.Dir)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("segment %s: %w", s.Key, blob.ErrAbsent)
	}
	defer free()
	if err := segment.Check(content); err != nil {
		return err
	}
	if _, err := partition.OpenSegment(ctx, segment.Bytes(content), s); err != nil {
		return err
	}
	_, err = partition.Dead(ctx, f.Bucket, s)
	return err
}
