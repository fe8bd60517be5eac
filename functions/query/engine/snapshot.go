package engine

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
	// emptyAge is the greatest age of a snapshot in which nothing is indexed. It is short so that the first
	// pages can be found soon after they are indexed.
	emptyAge = 2 * time.Second
	// staleAfter limits the time for which the engine finds the newest generation (version) of a
	// manifest by trying the numbers after the last known one. This does not work for ever. Old
	// generations are deleted, so the next number may be missing although later ones exist; and a
	// repair does not continue the numbers. After staleAfter, the engine begins again with the
	// hint, a copy of a recent generation.
	staleAfter = time.Hour
)

// snapshot is the state of all partitions' manifests at one moment, ready to be searched. It is
// immutable.
type snapshot struct {
	generations
	past      bool // whether the generations are those of a past moment
	takedowns takedown.Set
	prices    meter.Prices
	segments  map[string]opened // opened segments, by key
	missing   map[string]bool   // keys of the segments that cannot be used
	index     *search.Index
	unbanned  *search.Index // index of the pages that are not banned for all queries (see curated)
	curated   *curated      // synonyms, pinned and banned pages; nil if there are none
	taken     time.Time     // time at which reading of the manifests began
	// looked is the time of the last search that began with the hints (replaceable copies of recent
	// manifests). For the time staleAfter from then on, each new snapshot searches for newer
	// manifests without hints: it tries the numbers after those of the previous snapshot's
	// manifests. It takes over the value of looked from the previous snapshot.
	looked time.Time
}

// snapshots keeps the newest snapshot until it is older than Options.Age. It is safe for concurrent
// use.
type snapshots struct {
	last    atomic.Pointer[snapshot]
	renewal singleflight.Group
}

// get returns a snapshot whose reading began less than e.Age ago. If several callers need a new
// snapshot at the same time, it is read once, and all of them wait for it. The reading goes on even
// if the context of a caller ends.
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

// renew reads a new snapshot, and keeps it as the newest. The snapshot has the manifests of all
// partitions. Which partitions there are is known only after the settings have been read. But there
// is always a partition 0: renew reads its manifest at the same time as the settings, and the other
// manifests afterwards. So if there is only one partition, a new process answers sooner.
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
	fresh, err := e.take(ctx, now, inForce, last, false)
	if err != nil {
		return nil, err
	}
	fresh.taken, fresh.looked = taken, looked
	if e.ranges.Follow(fresh.forgotten()) {
		e.documents.Clear()
	}
	e.wholes.retain(fresh)
	s.last.Store(fresh)
	return fresh, nil
}

// newest returns the newest generation (version) of a partition's manifest. It takes a generation
// that is at hand, and looks for later ones in the bucket. The generation at hand is that in the
// parameter known. If known has none for the partition, it is the hint, a copy of a recent
// generation.
//
// What a hint lists is not open yet. To open a segment, its last bytes are needed. So newest reads those of all segments,
// anchors (texts of links) and unvisited URLs into the cache, or the whole of a small object, while it looks for later
// generations.
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
	prefetch := func(key string, size, tail, most int64) {
		ahead.Go(func() error {
			ranges := []blob.Range{{Offset: size - tail, Length: tail}}
			_, _ = e.sourceOf(key, size, most).Read(fork.Branch(), key, ranges) // an error is reported when the tail is needed
			return nil
		})
	}
	for _, s := range hint.Segments {
		prefetch(s.Key, s.Bytes, s.Tail, mostWhole)
		if a := s.Anchors; a != nil {
			prefetch(a.Key, a.Bytes, a.Tail, mostLinks)
		}
	}
	if u := hint.Unvisited; u != nil {
		prefetch(u.Key, u.Bytes, u.Tail, mostLinks)
	}
	newest, err := manifest.NewerHint(fork.Branch(), e.bucket, hint)
	_ = ahead.Wait()
	return newest, err
}

// forgotten returns a string that changes when there is a new takedown, and when a partition has
// erased the pages that a takedown covers. The engine then empties the cache of ranges, which may
// hold parts of these pages. The string is a list of numbers: the version of the takedowns in force,
// and for each partition the last version whose pages have been erased from the partition.
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

// outdate marks a snapshot as too old, so that the next call of get reads the manifests again. It
// does nothing if the snapshot is no longer the newest one.
func (s *snapshots) outdate(current *snapshot) {
	old := *current
	old.taken, old.looked = time.Time{}, time.Time{}
	s.last.CompareAndSwap(current, &old)
}

// holds reports whether the snapshot is new enough to answer queries: it is not nil, and its reading began
// less than e.Age ago. If nothing is indexed in the snapshot, the limit is emptyAge if that is less.
func (s *snapshot) holds(e *Engine) bool {
	if s == nil {
		return false
	}
	most := e.Age
	if s.empty() {
		most = min(most, emptyAge)
	}
	age := e.Now().Sub(s.taken)
	return age >= 0 && age < most
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
