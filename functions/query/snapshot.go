package query

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/bucketsearch/bucketsearch/layout"
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
	takedowns uint64            // version of what is masked
	segments  map[string]loaded // by key
	missing   map[string]bool   // keys of the segments that cannot be used
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
	inForce, err := e.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	manifests, err := readManifests(ctx, e.Bucket, inForce.Partitions())
	if err != nil {
		return nil, err
	}
	fresh, err := e.take(ctx, manifests, inForce.Takedowns, last)
	if err != nil {
		return nil, err
	}
	fresh.taken = taken
	s.last.Store(fresh)
	return fresh, nil
}

// outdate has the manifests read again by the next who needs them.
func (s *snapshots) outdate() {
	if last := s.last.Load(); last != nil {
		old := *last
		old.taken = time.Time{}
		s.last.CompareAndSwap(last, &old)
	}
}

// holds reports whether the snapshot is young enough; none is not.
func (s *snapshot) holds(e *Engine) bool {
	if s == nil {
		return false
	}
	age := e.Now().Sub(s.taken)
	return age >= 0 && age < e.Age
}

// readManifests reads those of all partitions at once.
func readManifests(ctx context.Context, bucket blob.Reader, partitions []layout.Partition) ([]manifest.Manifest, error) {
	manifests := make([]manifest.Manifest, len(partitions))
	group, ctx := errgroup.WithContext(ctx)
	for i, p := range partitions {
		group.Go(func() (err error) {
			manifests[i], err = manifest.Read(ctx, bucket, p)
			return err
		})
	}
	return manifests, group.Wait()
}

// currentKey returns the key that a package has now: pages may have been
// erased from it since the key was written down.
func currentKey(manifests []manifest.Manifest, key string) string {
	for i := range manifests {
		if listed := manifests[i].Package(key); listed != nil {
			return listed.Key
		}
	}
	return key
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
