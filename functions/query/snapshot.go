package query

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

const (
	// patience is the longest time that reading a snapshot may take.
	patience = time.Minute
	// staleAfter is the time for which the engine finds the newest generation of a partition by
	// trying the numbers after the last known one. After that time it begins again with the hint:
	// generations in between may have been deleted, and a repair gives its generations numbers that
	// do not follow the last one.
	staleAfter = time.Hour
)

// snapshot is the state of all manifests at one moment, ready to be searched. It
// is immutable.
type snapshot struct {
	generations
	takedowns takedown.Set
	prices    meter.Prices
	segments  map[string]opened // opened segments, by key
	missing   map[string]bool   // keys of the segments that cannot be used
	index     *search.Index
	taken     time.Time // time at which reading of the manifests began
	// time of the last search for the newest generations that began with the hints, and not with
	// the known generations (see staleAfter)
	looked time.Time
}

// snapshots keeps the newest snapshot until it is older than Options.Age. It is safe for concurrent
// use.
type snapshots struct {
	last    atomic.Pointer[snapshot]
	renewal singleflight.Group
}

// get returns a snapshot whose reading began less than e.Age ago. Callers that need a new one at
// the same time wait for one and the same reading. It goes on even if the context of one of them
// ends.
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

// renew reads a new snapshot, and keeps it as the newest. Only the settings say how many partitions
// there are; but renew reads the generation of the first partition at the same time as the
// settings, so that a new process need not wait for these first if there is only one partition.
func (s *snapshots) renew(ctx context.Context, e *Engine) (*snapshot, error) {
	last := s.last.Load()
	if last.holds(e) { // another was faster
		return last, nil
	}
	taken := e.Now()
	if last == nil {
		last = new(snapshot)
	}
	newest, looked := make(map[layout.Partition]manifest.Manifest), taken
	if age := taken.Sub(last.looked); age >= 0 && age < staleAfter {
		looked = last.looked
		for _, m := range last.manifests {
			if last.faults[m.Partition] == nil { // repair makes generations anew under numbers of its own
				newest[m.Partition] = m
			}
		}
	}
	fork := meter.NewFork(ctx)
	var reading errgroup.Group
	var inForce *settings.Settings
	reading.Go(func() (err error) {
		inForce, err = e.Settings.Get(fork.Branch())
		return err
	})
	var first manifest.Manifest
	var fault error // why the first cannot be read
	reading.Go(func() (err error) {
		if first, err = e.newest(fork.Branch(), 0, newest); partition.IsFault(err) {
			fault, err = err, nil
		}
		return err
	})
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	now, err := read(ctx, inForce.Partitions(), func(ctx context.Context, p layout.Partition) (manifest.Manifest, error) {
		if p == 0 {
			return first, fault
		}
		return e.newest(ctx, p, newest)
	})
	if err != nil {
		return nil, err
	}
	fresh, err := e.take(ctx, now, inForce, last)
	if err != nil {
		return nil, err
	}
	fresh.taken, fresh.looked = taken, looked
	if e.ranges.Follow(fresh.forgotten()) {
		e.documents.Clear()
	}
	s.last.Store(fresh)
	return fresh, nil
}

// newest returns the newest generation of a partition. If the parameter known has a generation of
// the partition, newest looks only for later ones. Otherwise it begins with the hint. While it
// looks for later generations, it reads into the cache those bytes of the hint's segments that are
// needed to open them (their tails).
func (e *Engine) newest(ctx context.Context, p layout.Partition, known map[layout.Partition]manifest.Manifest) (manifest.Manifest, error) {
	if m, found := known[p]; found {
		return manifest.Newer(ctx, e.bucket, m)
	}
	hint, err := manifest.Hint(ctx, e.bucket, p)
	if err != nil {
		return partition.Read(ctx, e.bucket, p)
	}
	fork := meter.NewFork(ctx)
	var ahead errgroup.Group
	for _, s := range hint.Segments {
		ahead.Go(func() error {
			tail := blob.Range{Offset: s.Bytes - s.Tail, Length: s.Tail}
			_, _ = e.ranges.Read(fork.Branch(), s.Key, []blob.Range{tail}) // an error is reported when the tail is needed
			return nil
		})
	}
	newest, err := manifest.Newer(fork.Branch(), e.bucket, hint)
	_ = ahead.Wait()
	return newest, err
}

// forgotten returns a string that changes when there is a new takedown, or when a partition has
// erased forgotten pages. Whenever it changes, the engine empties the cache of ranges.
func (s *snapshot) forgotten() string {
	versions := []uint64{s.takedowns.Version}
	for _, m := range s.manifests {
		versions = append(versions, m.Forgotten)
	}
	return fmt.Sprint(versions)
}

// unindexed returns the number of pages in packages that wait to be indexed.
func (s *snapshot) unindexed() (pages int) {
	for _, m := range s.manifests {
		for _, p := range m.Packages {
			if !p.Indexed {
				pages += p.Pages
			}
		}
	}
	return pages
}

// outdate makes the snapshot current count as too old, so that the next call of get reads the
// manifests again. It does nothing if current is no longer the newest snapshot.
func (s *snapshots) outdate(current *snapshot) {
	old := *current
	old.taken, old.looked = time.Time{}, time.Time{}
	s.last.CompareAndSwap(current, &old)
}

// holds reports whether the snapshot may still answer queries: it is not nil, and younger than e.Age.
func (s *snapshot) holds(e *Engine) bool {
	if s == nil {
		return false
	}
	age := e.Now().Sub(s.taken)
	return age >= 0 && age < e.Age
}

// currentKey returns the key that a package has now. The parameter key is its present or a former
// key: erasing pages from a package changes its key.
func currentKey(manifests []manifest.Manifest, key string) string {
	for i := range manifests {
		if listed := manifests[i].Package(key); listed != nil {
			return listed.Key
		}
	}
	return key
}
