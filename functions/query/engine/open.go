package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// opened is a segment that is ready to be searched. It also says which of the segment's documents must
// not be found, and has the anchors (texts of links to the documents).
type opened struct {
	segment   *segment.Segment
	deletions string           // key of the overlay that lists the deleted documents; "" for none
	takedowns uint64           // version of the takedowns by which documents are hidden; 0 for none
	dead      *roaring.Bitmap  // documents that are deleted or hidden; nil for none
	anchored  string           // key of the overlay (an object beside the segment) that has the anchors; "" for none
	anchors   *segment.Segment // opened anchors (texts of links to the documents); nil if there are none, or if they cannot be used

	curated *curated          // curation by which banned was made
	banned  []*roaring.Bitmap // for each ban of the curation, the documents that it hides
}

// listedSegment is a segment, or an overlay of unvisited URLs (known only by links), as a manifest
// lists it.
type listedSegment struct {
	manifest.Segment
	hide      bool // whether the segment may contain pages that a takedown covers, which must be hidden
	unvisited bool // whether the documents are URLs without a stored page
}

// errMemory means that the caches have no room for a segment.
var errMemory = errors.New("the memory for caches is too small")

// open makes a segment ready to be searched. It does three things at the same time: it opens the
// segment, opens the anchors (texts of links to the segment's documents), and reads the list of
// deleted documents. Opening reads only tables of contents. Then open hides the pages that a
// takedown covers, if the segment may contain some. To find them, it reads some columns of the
// segment.
//
// The parameter known is the result of an earlier call for the same segment; it is zero if there
// was none. What has not changed since that call is taken from known, and not read again.
func (e *Engine) open(ctx context.Context, want listedSegment, forgotten takedown.Set, known opened) (opened, error) {
	now := opened{segment: known.segment, curated: known.curated, banned: known.banned}
	if want.Deletions != nil {
		now.deletions = want.Deletions.Key
	}
	if want.Anchors != nil {
		now.anchored = want.Anchors.Key
	}
	if want.hide {
		now.takedowns = forgotten.Version
	}
	masked := known.segment != nil && known.deletions == now.deletions && known.takedowns == now.takedowns
	if masked && known.anchored == now.anchored {
		return known, nil
	}
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	if now.segment == nil {
		group.Go(func() (err error) {
			now.segment, err = e.openSegment(fork.Branch(), want)
			return err
		})
	}
	if masked {
		now.dead = known.dead
	} else if want.Deletions != nil {
		group.Go(func() (err error) {
			now.dead, err = e.deletions(fork.Branch(), want)
			return err
		})
	}
	if known.anchored == now.anchored {
		now.anchors = known.anchors
	} else if want.Anchors != nil {
		group.Go(func() (err error) {
			now.anchors, err = e.anchors(fork.Branch(), want)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return opened{}, fmt.Errorf("segment %s: %w", want.Key, err)
	}
	if want.hide && !masked {
		if err := now.hide(ctx, forgotten); err != nil {
			return opened{}, fmt.Errorf("segment %s: %w", want.Key, err)
		}
	}
	return now, nil
}

// openSegment opens a segment and keeps its table of contents in memory. The cache e.ranges has a
// budget of memory, from which openSegment takes what the table needs. This is given back when no
// snapshot refers to the segment any more. If the budget is too small, the error wraps errMemory.
func (e *Engine) openSegment(ctx context.Context, want listedSegment) (*segment.Segment, error) {
	most := int64(mostWhole)
	if want.unvisited {
		most = mostLinks
	}
	s, err := segment.Open(ctx, e.sourceOf(want.Key, want.Bytes, most), segment.Ref{Key: want.Key, Bytes: want.Bytes, Tail: want.Tail})
	if err != nil {
		return nil, err
	}
	if !rangecache.Hold(e.ranges, s, s.Size()) {
		return nil, fmt.Errorf("%w for its directory of %d bytes", errMemory, s.Size())
	}
	return s, nil
}

// deletions returns the numbers of a segment's dead documents, from the copy in the manifest or from the overlay.
func (e *Engine) deletions(ctx context.Context, want listedSegment) (*roaring.Bitmap, error) {
	content := want.Deletions.Content()
	if content == nil {
		whole, err := e.ranges.Read(ctx, want.Deletions.Key, []blob.Range{{Length: want.Deletions.Bytes}})
		if err != nil {
			return nil, fmt.Errorf("cannot read deletions %s: %w", want.Deletions.Key, err)
		}
		content = whole[0]
	}
	deletions, err := segment.DecodeDeletions(content)
	if err == nil && deletions.Documents != want.Documents {
		err = fmt.Errorf("%w: they are of %d documents, not of %d", segment.ErrDamaged, deletions.Documents, want.Documents)
	}
	if err != nil {
		return nil, fmt.Errorf("deletions %s: %w", want.Deletions.Key, err)
	}
	return deletions.Dead, nil
}

// anchors opens the overlay of anchors (texts of links to the pages) of a segment. Like openSegment,
// it keeps a table of contents in memory, and charges that memory to the cache. If the anchors cannot
// be used (see unusable), it logs the reason and returns neither anchors nor an error: the segment is
// searched without them. It returns all other errors, such as those of the store.
func (e *Engine) anchors(ctx context.Context, want listedSegment) (*segment.Segment, error) {
	anchors, err := partition.OpenAnchors(ctx, e.sourceOf(want.Anchors.Key, want.Anchors.Bytes, mostLinks), &want.Segment)
	if err == nil && !rangecache.Hold(e.ranges, anchors, anchors.Size()) {
		err = fmt.Errorf("%w for their directory of %d bytes", errMemory, anchors.Size())
	}
	if unusable(err) {
		e.ranges.Forget(want.Anchors.Key)
		e.missAnchors(ctx, want.Anchors.Key, err)
		return nil, nil
	}
	return anchors, err
}

func (e *Engine) missAnchors(ctx context.Context, key string, err error) {
	e.Log.WarnContext(ctx, "a segment is searched without its anchors", "key", key, "error", err)
}

// hide adds the documents of pages that a takedown covers to o.dead, so that no search finds them.
func (o *opened) hide(ctx context.Context, takedowns takedown.Set) error {
	dead, err := segments.Forgotten(ctx, o.segment, takedowns)
	if err != nil {
		return err
	}
	if o.dead != nil {
		dead.Or(o.dead)
	}
	o.dead = dead
	return nil
}

// take makes a snapshot of the given generations (versions of manifests), and opens their segments.
// The parameter last is an earlier snapshot, or nil: take reuses the segments that are open there.
// Segments that cannot be used are left out, so that the rest can be searched. The next call of
// take tries them again.
//
// The parameter isPast says whether the generations are those of a past moment.
//
// take logs missing segments and lost generations. It does not log them again if they were missing
// in the earlier snapshot, too.
func (e *Engine) take(ctx context.Context, at generations, inForce *settings.Settings, last *snapshot, isPast bool) (*snapshot, error) {
	forgotten := inForce.Takedowns.Hidden()
	if last == nil {
		last = &snapshot{}
	}
	fresh := &snapshot{
		generations: at, past: isPast, takedowns: forgotten, prices: inForce.Control.Priced(),
		curated: e.curation(ctx, inForce, last), segments: make(map[string]opened), missing: make(map[string]bool),
	}
	var wanted []listedSegment
	e.logLost(ctx, "a partition is missing from all answers", last.faults, at.faults)
	e.logLost(ctx, "the newest generations are missing from all answers", last.later, at.later)
	for _, m := range at.manifests {
		for _, s := range m.Segments {
			wanted = append(wanted, listedSegment{s, forgotten.MayBeIn(m.Forgotten), false})
		}
		if u := m.Unvisited; u != nil {
			s := manifest.Segment{Key: u.Key, Bytes: u.Bytes, Tail: u.Tail, Documents: u.Documents}
			wanted = append(wanted, listedSegment{s, forgotten.MayBeIn(m.Forgotten), true})
		}
	}
	found := make([]*opened, len(wanted))
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	for i, want := range wanted {
		known := last.segments[want.Key]
		group.Go(func() error {
			branch := fork.Branch()
			open := func() (opened, error) {
				now, err := e.open(branch, want, forgotten, known)
				if err == nil {
					err = now.curate(branch, fresh.curated, want.unvisited)
				}
				return now, err
			}
			now, err := open()
			if errors.Is(err, segment.ErrDamaged) { // perhaps only its cached ranges are damaged
				e.forget(want.Segment)
				now, err = open()
			}
			switch {
			case err == nil:
				found[i] = &now
			case !unusable(err):
				return err
			case want.unvisited:
				e.Log.WarnContext(ctx, "URLs that are known by links only are left out of all answers", "key", want.Key, "error", err)
			case !last.missing[want.Key]:
				e.miss(ctx, want.Key, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, want := range wanted {
		switch {
		case found[i] != nil:
			fresh.segments[want.Key] = *found[i]
		case !want.unvisited:
			fresh.missing[want.Key] = true
		}
	}
	return fresh, fresh.join(e)
}

// logLost logs the faults of a new snapshot, each with the given message (the parameter what). A fault
// is a partition whose newest manifest is lost or cannot be read. Partitions that had a fault in the
// previous snapshot, too (the parameter before), are not logged again.
func (e *Engine) logLost(ctx context.Context, what string, before, now map[layout.Partition]error) {
	for p, fault := range now {
		if before[p] == nil {
			e.Log.ErrorContext(ctx, what, "partition", p, "error", fault)
		}
	}
}

// join makes the two indexes of the snapshot: the field index, of all pages, and the field unbanned, without
// the pages that are banned for all queries. Both are the same index if there are no such bans.
func (s *snapshot) join(e *Engine) (err error) {
	if s.index, err = s.indexWithout(nil, e); err != nil {
		return err
	}
	s.unbanned = s.index
	if bans := s.curated.always(); len(bans) > 0 {
		s.unbanned, err = s.indexWithout(bans, e)
	}
	return err
}

// indexWithout makes one index of all segments of the snapshot, without the pages that the given bans hide.
// The parameter bans has indexes in curated.bans. Unless the snapshot is a past one, the engine's leaves search.
func (s *snapshot) indexWithout(bans []int, e *Engine) (*search.Index, error) {
	ix, err := e.indexOf(s.parts(bans, e))
	if err == nil && !s.past {
		ix = ix.WithLeaves(e.leaves(false))
	}
	return ix, err
}

// indexOf makes one index of some segments. It uses the engine's cache of documents and its weights.
func (e *Engine) indexOf(parts []search.Part) (*search.Index, error) {
	ix, err := search.New(parts, e.documents)
	if err == nil && e.Weights != nil {
		ix = ix.WithWeights(*e.Weights)
	}
	return ix, err
}

// parts returns all segments of the snapshot, without the pages that the given bans hide.
func (s *snapshot) parts(bans []int, e *Engine) (parts []search.Part) {
	for _, m := range s.manifests {
		for _, listed := range m.Segments {
			if o, found := s.segments[listed.Key]; found {
				parts = append(parts, search.Part{Segment: o.segment, Dead: o.deadOf(bans), Anchors: o.anchors, Ranks: e.ranks(listed)})
			}
		}
		if u := m.Unvisited; u != nil {
			if o, found := s.segments[u.Key]; found {
				parts = append(parts, search.Part{Segment: o.segment, Dead: o.deadOf(bans), Unvisited: true})
			}
		}
	}
	return parts
}

// anchored returns the key of the segment to which an overlay of anchors (texts of links) belongs. The
// parameter is the key of the overlay. If the snapshot has no such segment, the result is "".
func (s *snapshot) anchored(anchors string) string {
	for key, o := range s.segments {
		if o.anchored == anchors {
			return key
		}
	}
	return ""
}

// isUnvisited reports whether the key is that of a partition's overlay of unvisited URLs, which are
// known only by links.
func (s *snapshot) isUnvisited(key string) bool {
	return slices.ContainsFunc(s.manifests, func(m manifest.Manifest) bool { return m.Unvisited != nil && m.Unvisited.Key == key })
}

// isWhole reports whether the snapshot has all that its manifests list: the segments, their anchors (texts of
// links), and the overlays of unvisited URLs (known only by links).
func (s *snapshot) isWhole() bool {
	for _, m := range s.manifests {
		for _, listed := range m.Segments {
			if o, found := s.segments[listed.Key]; !found || o.anchored != "" && o.anchors == nil {
				return false
			}
		}
		if u := m.Unvisited; u != nil {
			if _, found := s.segments[u.Key]; !found {
				return false
			}
		}
	}
	return true
}

// lacking returns a copy of the snapshot without the object with the given key. This object is a
// segment, or an overlay of anchors (texts of links) or of unvisited URLs (known only by links).
func (s *snapshot) lacking(key string, e *Engine) (*snapshot, error) {
	rest := *s
	rest.segments, rest.missing = maps.Clone(s.segments), maps.Clone(s.missing)
	if of := s.anchored(key); of != "" {
		without := rest.segments[of]
		without.anchors = nil
		rest.segments[of] = without
	} else {
		delete(rest.segments, key)
		if !s.isUnvisited(key) {
			rest.missing[key] = true
		}
	}
	return &rest, rest.join(e)
}

func (e *Engine) forget(s manifest.Segment) {
	e.ranges.Forget(s.Key)
	for key := range s.Overlays() {
		e.ranges.Forget(key)
	}
}

// unusable reports whether an error means that a segment must be left out: its object is
// damaged, missing or of a newer format, or the caches have no room for it. Other errors,
// such as those of the store, fail the query.
func unusable(err error) bool {
	return errors.Is(err, segment.ErrDamaged) || errors.Is(err, segment.ErrVersion) || errors.Is(err, blob.ErrAbsent) || errors.Is(err, errMemory)
}
