package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Engine answers from the bucket alone. It is safe for concurrent use.
type Engine struct {
	Options
	bucket    blob.Reader
	ranges    *rangecache.Cache
	documents *search.Memory

	snapshots snapshots
	past      atomic.Pointer[snapshot] // the last that a query named
}

// Options of an engine.
type Options struct {
	Settings *settings.Cache
	Now      func() time.Time
	Age      time.Duration // how old the manifests may be
	Log      *slog.Logger

	Memory int64  // bytes of cache in memory; 0 for DefaultMemory
	Dir    string // of a cache on local disk; "" for none
	Disk   int64  // bytes of it
	Name   string // of the bucket, to which the cache on disk is bound

	Paid float64 // GB of memory that the function is paid for; 0 where nobody is paid
}

// DefaultMemory leaves more than half of a function of 512 MB to the work
// itself.
const DefaultMemory = 192 << 20

// NewEngine returns an engine over a bucket, which counts into the meter of a
// context where costs are asked for.
func NewEngine(bucket blob.Reader, o Options) (*Engine, error) {
	o.Memory = cmp.Or(o.Memory, DefaultMemory)
	ranges, err := rangecache.New(bucket, rangecache.Options{Memory: o.Memory, Dir: o.Dir, Disk: o.Disk, Bucket: o.Name})
	if err != nil {
		return nil, err
	}
	return &Engine{Options: o, bucket: bucket, ranges: ranges, documents: search.NewMemory(o.Memory / 8)}, nil
}

// Query is what a client asks.
type Query struct {
	search.Query
	AsOf time.Time // to answer from the state of that moment; zero for now
	Cost bool      // say what the answer cost
}

// Result is what a search found.
type Result struct {
	search.Result
	Took time.Duration
	// Incomplete says that a segment is damaged or gone, so that pages are
	// missing from what was found until it has been built again.
	Incomplete bool
	Lost       *Lost       // the partitions of which nothing is known, so that it is incomplete, too; nil if there are none
	Cost       *meter.Cost // nil unless it was asked for
}

// Search searches all partitions. A segment that turns out to be unusable is
// left out, and asked for again with the next snapshot; before the first of a
// search is, the manifests are read again, because a merge may have replaced it.
// It fails with Lost where the generations of all partitions are lost.
func (e *Engine) Search(ctx context.Context, q Query) (Result, error) {
	began := e.Now()
	costs := new(meter.Meter)
	if q.Cost {
		ctx = meter.With(ctx, costs)
	}
	current, err := e.snapshotOf(ctx, q.AsOf)
	doubted := make(map[string]bool) // segments that were damaged as they are cached
	reread := false
	if err == nil {
		err = current.allLost()
	}
	for err == nil {
		var found search.Result
		if found, err = current.index.Search(ctx, q.Query); err == nil {
			result := Result{Result: found, Took: e.Now().Sub(began), Lost: current.anyLost()}
			result.Incomplete = len(current.missing) > 0 || result.Lost != nil
			if q.Cost {
				cost := costs.Cost(current.prices, result.Took.Seconds()*e.Paid)
				result.Cost = &cost
			}
			return result, nil
		}
		fault, is := errors.AsType[*search.Unreadable](err)
		if !is || !unusable(err) {
			break
		}
		if errors.Is(err, segment.ErrDamaged) && !doubted[fault.Segment] {
			doubted[fault.Segment] = true
			e.ranges.Forget(fault.Segment)
			err = nil
			continue
		}
		if errors.Is(err, blob.ErrAbsent) {
			e.ranges.Forget(fault.Segment) // or it is opened again by what is cached of it
			if !reread && e.past.Load() != current {
				reread = true
				if current, err = e.reread(ctx, current); err != nil {
					break
				}
				continue
			}
		}
		current, err = e.without(ctx, current, fault)
	}
	return Result{}, fmt.Errorf("cannot search: %w", err)
}

// reread returns a snapshot of manifests that were read after the current one:
// what these list is deleted a grace after they are superseded.
func (e *Engine) reread(ctx context.Context, current *snapshot) (*snapshot, error) {
	e.snapshots.outdate(current)
	return e.snapshots.get(ctx, e)
}

// without returns a snapshot that does without a segment that cannot be used.
func (e *Engine) without(ctx context.Context, current *snapshot, fault *search.Unreadable) (*snapshot, error) {
	e.miss(ctx, fault.Segment, fault)
	lacking, err := current.lacking(fault.Segment, e.documents)
	if err != nil {
		return nil, err
	}
	if !e.snapshots.last.CompareAndSwap(current, lacking) {
		e.past.CompareAndSwap(current, lacking)
	}
	return lacking, nil
}

func (e *Engine) miss(ctx context.Context, key string, err error) {
	advice := "repair it by bucketsearch verify --repair"
	if errors.Is(err, errMemory) {
		advice = "give the query function more memory"
	}
	e.Log.ErrorContext(ctx, "a segment is missing from all answers: "+advice, "segment", key, "error", err)
}

// snapshotOf returns the state of a past moment, the newest for the zero time.
// What is forgotten now is hidden in it, too. The last one is kept, so that
// whoever turns its pages does not have it read again.
func (e *Engine) snapshotOf(ctx context.Context, moment time.Time) (*snapshot, error) {
	if moment.IsZero() {
		return e.snapshots.get(ctx, e)
	}
	inForce, err := e.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	then, err := e.pastGenerations(ctx, inForce.Partitions(), moment)
	if err != nil {
		return nil, err
	}
	last := e.past.Load()
	if last != nil && last.same(then) && last.takedowns.Version == inForce.Takedowns.Version {
		return last, nil
	}
	fresh, err := e.take(ctx, then, inForce, last)
	if err != nil {
		return nil, err
	}
	e.past.Store(fresh)
	return fresh, nil
}

// pastGenerations returns those of a past moment. That a partition had none then
// is known only as long as it has some now.
func (e *Engine) pastGenerations(ctx context.Context, partitions []layout.Partition, moment time.Time) (generations, error) {
	return read(ctx, partitions, func(ctx context.Context, p layout.Partition) (manifest.Manifest, error) {
		then, err := manifest.AsOf(ctx, e.bucket, p, moment)
		if err == nil && then.Generation == 0 || errors.Is(err, manifest.ErrDamaged) {
			_, errNow := partition.Read(ctx, e.bucket, p)
			err = cmp.Or(errNow, err)
		}
		return then, err
	})
}
