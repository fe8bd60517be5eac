// Package engine answers queries, and reads stored copies of pages, from the bucket alone. So any
// number of engines can run anywhere. An engine writes nothing.
package engine

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
	wholes    wholes
	documents *search.Memory
	breakers  breakers

	snapshots snapshots
	abouts    abouts
	past      atomic.Pointer[snapshot] // snapshot for the last query about a past moment (Query.AsOf)
}

// Options say how an engine answers queries, and how much memory it may use.
type Options struct {
	Settings *settings.Cache
	Now      func() time.Time
	Age      time.Duration // greatest age of the snapshot of the manifests by which queries are answered; less while nothing is indexed (see emptyAge)
	Log      *slog.Logger

	Memory int64  // size of the caches in memory, in bytes; 0 for DefaultMemory
	Dir    string // directory of a cache on the local disk; "" for none
	Disk   int64  // greatest size of the cache in Dir, in bytes
	Name   string // name of the bucket; entries in Dir that are of other buckets are not used

	Paid float64 // memory of the cloud function, in GB, for which its operator pays; 0 where nobody pays

	// Crawling returns the state of the crawl that runs beside the engine, in a few words, such as "41 pages
	// fetched, 30 searchable"; "" if none runs. The engine adds it to the notes of each search. Crawling may
	// be nil if there is never such a crawl.
	Crawling func() string

	// Patience is the longest time that a search may take which has no deadline of its own
	// (search.Query.Deadline). The search then ends with what it has found so far. 0 means no limit.
	Patience time.Duration

	Weights *search.Weights // weights of scores; nil for the standard ones

	Leaves []search.Leaf // other processes that search parts of the present index (see package search, Leaves); nil if this one searches all
}

// DefaultMemory is the default of Options.Memory, in bytes.
const DefaultMemory = 192 << 20

// New returns an engine for a bucket. If a query's context has a meter, the engine counts in it
// the requests to the object store (explain=cost).
func New(bucket blob.Reader, o Options) (*Engine, error) {
	o.Memory = cmp.Or(o.Memory, DefaultMemory)
	ranges, err := rangecache.New(bucket, rangecache.Options{Memory: o.Memory, Dir: o.Dir, Disk: o.Disk, Bucket: o.Name})
	if err != nil {
		return nil, err
	}
	return &Engine{
		Options: o, bucket: bucket, ranges: ranges, wholes: wholes{most: o.Memory / 8, sizes: make(map[string]int64)},
		documents: search.NewMemory(o.Memory / 8),
	}, nil
}

// Query is a client's request for a search.
type Query struct {
	search.Query
	AsOf time.Time // the bucket is searched in its state at this moment; zero: the present state
	Cost bool      // whether the answer's cost is measured (Result.Cost)
}

// Most returns how many hits of this query a client can see in all, by asking for one page of results after
// the other. It is the greatest sum of From and Size that the engine accepts.
func (q *Query) Most() int {
	if len(q.Across.Into) > 0 {
		return search.MaxAcrossHits
	}
	return search.MaxHits
}

// Result is the answer to a Query.
type Result struct {
	search.Result
	Took time.Duration
	// Incomplete is true if pages are missing from the result, because their segments cannot be used
	// until they are built again, or because generations (versions of a manifest) that list them are
	// lost.
	Incomplete bool
	// Empty is true if nothing was indexed yet: whatever the query is, no page can be found. Notes then
	// say so.
	Empty bool
	Lost  *Lost // error that names the partitions with lost or damaged generations; nil if there are none
	// Copies has the path of the stored copy, such as /page?url=…, of each image among the hits.
	// The key is the image's address. An image without a stored copy has no entry.
	Copies map[string]string
	Cost   *meter.Cost // what the answer cost; nil unless Query.Cost was set
}

// Search searches all partitions. The curation in force (synonyms, pinned pages and banned pages, which the
// operator sets) applies. If the query is the address of a page and no pages are pinned for it, this page
// comes first (see searchPasted).
//
// If a segment cannot be used, Search first reads the manifests again, because a merge may have replaced the
// segment. If that does not help, Search leaves the segment out, and tries it again with the next snapshot
// (the manifests and opened segments that answer queries). The error is a *Lost if no partition can be
// searched because generations (versions of manifests) are lost. It wraps manifest.ErrNotKept if the state of
// a past moment is not kept any more.
func (e *Engine) Search(ctx context.Context, q Query) (Result, error) {
	began := e.Now()
	if q.Deadline.IsZero() && e.Patience > 0 {
		q.Deadline = began.Add(e.Patience)
	}
	costs := new(meter.Meter)
	if q.Cost {
		ctx = meter.With(ctx, costs)
	}
	current, err := e.snapshotOf(ctx, q.AsOf)
	var tried retries
	asked, isAddress := readPasted(q.Text)
	if err == nil {
		err = current.allLost()
	}
	for err == nil {
		q.Hidden = current.hidden()
		q.Across.Open = func(ctx context.Context, from, to string) (*dictionary.Dictionary, error) {
			return e.dictionary(ctx, current, from, to)
		}
		q.Linking = e.linking(current)
		current.curated.apply(&q.Query)
		var index *search.Index
		if index, err = current.searched(q.Text, e); err != nil {
			break
		}
		if tried.reread && !current.past {
			index = index.WithLeaves(e.leaves(true))
		}
		var found search.Result
		if isAddress && len(q.Pinned) == 0 {
			found, err = e.searchPasted(ctx, current, index, &asked, q.Query)
		} else {
			found, err = index.Search(ctx, q.Query)
		}
		if err == nil && !q.AsOf.IsZero() {
			err = e.unlessDeleted(ctx, current, q.AsOf)
		}
		if err == nil {
			e.tellLeftOut(ctx, found.LeftOut)
			if q.AsOf.IsZero() {
				found.Notes = append(found.Notes, e.waiting(current, found.Total)...)
			} else if q.AsOf.After(e.Now()) {
				found.Notes = append(found.Notes, "The moment asked for is still to come: this is the state of now.")
			} else if current.empty() {
				found.Notes = append(found.Notes, "At that moment nothing could be found yet.")
			}
			result := Result{Result: found, Empty: current.empty(), Lost: current.anyLost()}
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
		current, err = e.afterFault(ctx, current, err, &tried)
	}
	return Result{}, fmt.Errorf("cannot search: %w", err)
}

// retries records what was tried during one request after a segment could not be used.
type retries struct {
	doubted map[string]bool // segments that were found damaged once: perhaps only their cached ranges are
	reread  bool            // whether the manifests were read again
}

// afterFault is called when a request has failed with the error err. If the reason is a segment that cannot
// be used, it returns the snapshot (the manifests and opened segments that answer queries) with which the
// request is tried again. This is the current one once more if its cached parts may be damaged, one that is
// read anew if the segment has been deleted, or else one without the segment. All other errors are returned
// unchanged. The parameter tried records what was tried for this request.
func (e *Engine) afterFault(ctx context.Context, current *snapshot, err error, tried *retries) (*snapshot, error) {
	fault, is := errors.AsType[*search.Unreadable](err)
	if !is || !unusable(err) {
		return nil, err
	}
	if errors.Is(err, segment.ErrDamaged) && !tried.doubted[fault.Segment] {
		if tried.doubted == nil {
			tried.doubted = make(map[string]bool)
		}
		tried.doubted[fault.Segment] = true
		e.ranges.Forget(fault.Segment)
		return current, nil
	}
	if errors.Is(err, blob.ErrAbsent) {
		e.ranges.Forget(fault.Segment) // else the segment would be opened again from its cached ranges
		if !tried.reread && e.past.Load() != current {
			tried.reread = true
			return e.reread(ctx, current)
		}
	}
	return e.without(ctx, current, fault)
}

// reread is called when an object that the current snapshot lists has been deleted. An object is
// deleted only some time after it was dropped from the manifests. So the snapshot is older than
// that, and its manifests are outdated. reread reads the present manifests, which list only objects
// that exist, and returns a snapshot of them.
func (e *Engine) reread(ctx context.Context, current *snapshot) (*snapshot, error) {
	e.snapshots.outdate(current)
	return e.snapshots.get(ctx, e)
}

// without returns a copy of the current snapshot that lacks an object which cannot be used. The
// parameter fault names this object. It is a segment, an overlay of anchors (texts of links), or an
// overlay of unvisited URLs (known only by links). The method without logs that the object is
// missing, and lets later queries use the copy, too.
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

// snapshotOf returns the snapshot (the manifests and opened segments that answer queries) of the given
// moment, or the newest snapshot if moment is zero. In both cases, the takedowns and the curation of today
// apply: URLs that a takedown covers are hidden, and synonyms, pinned and banned pages are those of today.
//
// The engine keeps the past snapshot that was used last. So the segments are opened only once for a client
// that asks for several pages of results of the same moment.
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
	if last != nil && last.same(then) && last.takedowns.Version == inForce.Takedowns.Hidden().Version && last.curated.isNewest(inForce) {
		return last, nil
	}
	fresh, err := e.take(ctx, then, inForce, last, true)
	if err != nil {
		return nil, err
	}
	e.past.Store(fresh)
	return fresh, nil
}

// unlessDeleted returns an error that wraps manifest.ErrNotKept if objects are absent from the snapshot of a
// past moment because that moment has become too old: the sweep has deleted them since the snapshot's manifests
// were read. Before it deletes an object, the sweep commits which generations are still kept. So reading these
// again tells such objects from lost ones, without which the search goes on.
func (e *Engine) unlessDeleted(ctx context.Context, then *snapshot, moment time.Time) error {
	if then.isWhole() {
		return nil
	}
	var partitions []layout.Partition
	for _, m := range then.manifests {
		partitions = append(partitions, m.Partition)
	}
	_, err := e.pastGenerations(ctx, partitions, moment)
	return err
}

// pastGenerations returns for each partition the generation (version of its manifest) that was in
// force at the given time. If there is none, it tries to read the partition's newest generation. If
// this can be read, the partition did not exist yet at the given time. If it cannot be read, the
// partition's generations are lost.
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
