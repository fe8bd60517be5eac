package query

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

const (
	// parallelReads is how many segments or books are read at once.
	parallelReads = 8
	// patience is how long a renewal of the snapshot may take.
	patience = time.Minute
)

// snapshot is what the manifests of one moment say, ready to be searched.
type snapshot struct {
	manifests []manifest.Manifest
	segments  map[string]*segment.Segment // by key
	index     *segment.Index
	taken     time.Time
}

// snapshots keeps the newest snapshot for a while. It is safe for concurrent
// use.
type snapshots struct {
	last    atomic.Pointer[snapshot]
	renewal singleflight.Group
}

// get returns a snapshot that is at most e.Age old, or was when its reading
// began. All who wait for a new one wait for the same; it goes on when one of
// them hangs up.
func (s *snapshots) get(ctx context.Context, e *Engine) (*snapshot, error) {
	if last := s.last.Load(); last.holds(e) {
		return last, nil
	}
	renewed := s.renewal.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		return s.renew(ctx, e)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-renewed:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*snapshot), nil
	}
}

func (s *snapshots) renew(ctx context.Context, e *Engine) (*snapshot, error) {
	last := s.last.Load()
	if last.holds(e) { // another was faster
		return last, nil
	}
	taken := e.Now()
	manifests, err := e.manifests(ctx)
	if err != nil {
		return nil, err
	}
	fresh, err := take(ctx, e.Bucket, manifests, last)
	if err != nil {
		return nil, err
	}
	fresh.taken = taken
	s.last.Store(fresh)
	return fresh, nil
}

// holds reports whether the snapshot is young enough; none is not.
func (s *snapshot) holds(e *Engine) bool {
	if s == nil {
		return false
	}
	age := e.Now().Sub(s.taken)
	return age >= 0 && age < e.Age
}

// take reads the segments that last does not hold.
func take(ctx context.Context, bucket blob.Reader, manifests []manifest.Manifest, last *snapshot) (*snapshot, error) {
	if last == nil {
		last = &snapshot{}
	} else if sameGenerations(last.manifests, manifests) {
		return &snapshot{manifests: manifests, segments: last.segments, index: last.index}, nil
	}
	var keys []string
	for _, m := range manifests {
		for _, listed := range m.Segments {
			keys = append(keys, listed.Key)
		}
	}
	opened := make([]*segment.Segment, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for i, key := range keys {
		if opened[i] = last.segments[key]; opened[i] != nil {
			continue
		}
		group.Go(func() (err error) {
			opened[i], err = load(ctx, bucket, key)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	fresh := &snapshot{manifests: manifests, segments: make(map[string]*segment.Segment, len(keys))}
	for i, key := range keys {
		fresh.segments[key] = opened[i]
	}
	var err error
	fresh.index, err = segment.NewIndex(opened)
	return fresh, err
}

func load(ctx context.Context, bucket blob.Reader, key string) (*segment.Segment, error) {
	content, err := bucket.Get(ctx, key, blob.Range{})
	if err != nil {
		return nil, fmt.Errorf("cannot read segment %s: %w", key, err)
	}
	opened, err := segment.Open(content)
	if err != nil {
		return nil, fmt.Errorf("segment %s: %w", key, err)
	}
	return opened, nil
}

// manifests reads those of all partitions at once.
func (e *Engine) manifests(ctx context.Context) ([]manifest.Manifest, error) {
	inForce, err := e.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	partitions := inForce.Partitions()
	manifests := make([]manifest.Manifest, len(partitions))
	group, ctx := errgroup.WithContext(ctx)
	for i, p := range partitions {
		group.Go(func() (err error) {
			manifests[i], err = manifest.Read(ctx, e.Bucket, p)
			return err
		})
	}
	return manifests, group.Wait()
}

func sameGenerations(a, b []manifest.Manifest) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Partition != b[i].Partition || a[i].Hash() != b[i].Hash() {
			return false
		}
	}
	return true
}
