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
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Engine answers queries from the bucket alone. It is safe for concurrent use.
type Engine struct {
	Options
	bucket    blob.Reader
	ranges    *rangecache.Cache
	documents *search.Memory

	snapshots snapshots
	past      atomic.Pointer[snapshot] // snapshot for the last query about a past moment (Query.AsOf)
}

// Options say how an engine answers queries, and how much memory it may use.
type Options struct {
	Settings *settings.Cache
	Now      func() time.Time
	Age      time.Duration // greatest age of the snapshot of the manifests by which queries are answered
	Log      *slog.Logger

	Memory int64  // size of the caches in memory, in bytes; 0 for DefaultMemory
	Dir    string // directory of a cache on the local disk; "" for none
	Disk   int64  // greatest size of the cache in Dir, in bytes
	Name   string // name of the bucket, to which the cache in Dir is bound

	Paid float64 // memory in GB for which the function's operator pays; 0 where nobody pays

	Judging Judging
	Clicks  Clicks
	Weights *search.Weights // weights of scores; nil for the standard ones
}

// DefaultMemory is the default of Options.Memory, in bytes. It leaves more than half of a function
// of 512 MB to the search itself.
const DefaultMemory = 192 << 20

// NewEngine returns an engine for a bucket. If a query's context has a meter, the engine counts its
// requests to the object store there (explain=cost).
func NewEngine(bucket blob.Reader, o Options) (*Engine, error) {
	o.Memory = cmp.Or(o.Memory, DefaultMemory)
	ranges, err := rangecache.New(bucket, rangecache.Options{Memory: o.Memory, Dir: o.Dir, Disk: o.Disk, Bucket: o.Name})
	if err != nil {
		return nil, err
	}
	return &Engine{Options: o, bucket: bucket, ranges: ranges, documents: search.NewMemory(o.Memory / 8)}, nil
}

// Query is a client's request for a search.
type Query struct {
	search.Query
	AsOf time.Time // moment in whose state the bucket is searched; zero: the present state
	Cost bool      // whether the answer's cost is measured (Result.Cost)
}

// Result is the answer to a Query.
type Result struct {
	search.Result
	Took time.Duration
	// Incomplete is true if pages are missing from the result: those of segments that cannot be
	// used until they are built again, or of lost generations.
	Incomplete bool
	Lost       *Lost // error that names the partitions with lost or damaged generations; nil if there are none
	// Copies are the paths of the stored copies of images among the hits, as /page?url=…, by the
	// image's address. Images that are not stored have no path there.
	Copies map[string]string
	Cost   *meter.Cost // what the answer cost; nil unless Query.Cost was set
}

// Search searches all partitions. If the query is the address of a page, this page comes first (see
// searchPasted). If a segment cannot be used, Search first reads the manifests again, because a
// merge may have replaced the segment. If that does not help, the segment is left out until the
// next snapshot, which tries it again. Search fails with Lost if no partition can be searched
// because generations are lost.
func (e *Engine) Search(ctx context.Context, q Query) (Result, error) {
	began := e.Now()
	costs := new(meter.Meter)
	if q.Cost {
		ctx = meter.With(ctx, costs)
	}
	current, err := e.snapshotOf(ctx, q.AsOf)
	doubted := make(map[string]bool) // segments that were found damaged once: perhaps only their cached ranges are
	reread := false
	asked, isAddress := readPasted(q.Text)
	if err == nil {
		err = current.allLost()
	}
	for err == nil {
		q.Hidden = current.hidden()
		q.Across.Open = func(ctx context.Context, from, to string) (*dictionary.Dictionary, error) {
			return e.dictionary(ctx, current, from, to)
		}
		var found search.Result
		if isAddress {
			found, err = e.searchPasted(ctx, current, &asked, q.Query)
		} else {
			found, err = current.index.Search(ctx, q.Query)
		}
		if err == nil {
			if n := current.unindexed(); n > 0 && found.Total == 0 {
				found.Notes = append(found.Notes, fmt.Sprintf("%d pages wait to be indexed, by the system that runs or the next crawl.", n))
			}
			if !q.AsOf.IsZero() && q.AsOf.After(e.Now()) {
				found.Notes = append(found.Notes, "The moment asked for is still to come: this is the state of now.")
			} else if !q.AsOf.IsZero() && len(current.segments)+len(current.missing) == 0 {
				found.Notes = append(found.Notes, "At that moment nothing could be found yet.")
			}
			result := Result{Result: found, Lost: current.anyLost()}
			result.Incomplete = len(current.missing) > 0 || result.Lost != nil
			if result.Copies, err = e.copies(ctx, current, found.Hits, q.AsOf); err != nil {
				break
			}
			result.Took = e.Now().Sub(began)
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
			e.ranges.Forget(fault.Segment) // else the segment would be opened again from its cached ranges
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

// reread reads the present manifests and makes of them a new snapshot in place of the snapshot
// current. All objects that the new one lists still exist, because an object that is replaced is
// deleted only after the grace.
func (e *Engine) reread(ctx context.Context, current *snapshot) (*snapshot, error) {
	e.snapshots.outdate(current)
	return e.snapshots.get(ctx, e)
}

// without returns a copy of the snapshot current that lacks an object which cannot be used: the
// segment, anchors or unvisited URLs that the error fault names. It logs that they are missing.
// Later queries use the copy, too.
func (e *Engine) without(ctx context.Context, current *snapshot, fault *search.Unreadable) (*snapshot, error) {
	if current.anchored(fault.Segment) != "" {
		e.missAnchors(ctx, fault.Segment, fault)
	} else {
		e.miss(ctx, fault.Segment, fault)
	}
	lacking, err := current.lacking(fault.Segment, e)
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

// snapshotOf returns the snapshot of the time in the parameter moment, or the newest snapshot if
// moment is zero. URLs that are forgotten today are hidden in both. The engine keeps the past
// snapshot that was used last in memory, so that it is read once for a client that requests several
// pages of results.
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

// pastGenerations returns the generations that were in force at the time given by the parameter
// moment. A partition that seems to have had none then counts as lost if its newest generation
// cannot be read today.
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
