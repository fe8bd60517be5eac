package partition

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// OpenSegment opens a segment by its entry in the manifest. It reads only the segment's tail,
// which says where everything is. The error wraps segment.ErrDamaged if the segment does not
// match the entry.
func OpenSegment(ctx context.Context, source segment.Source, listed *manifest.Segment) (*segment.Segment, error) {
	s, err := segment.Open(ctx, source, refOf(listed))
	return asListed(s, err, listed)
}

// OpenToFind opens a listed segment, as OpenSegment does, for a caller that then calls segment.Find. By the same
// request it reads the segment's filter, which Find needs.
func OpenToFind(ctx context.Context, source segment.Source, listed *manifest.Segment) (*segment.Segment, error) {
	s, err := segment.OpenToFind(ctx, source, refOf(listed), listed.Documents)
	return asListed(s, err, listed)
}

func refOf(listed *manifest.Segment) segment.Ref {
	return segment.Ref{Key: listed.Key, Bytes: listed.Bytes, Tail: listed.Tail}
}

// asListed checks that an opened segment has as many documents as its entry in the manifest says. The parameter
// err is the error of opening it.
func asListed(s *segment.Segment, err error, listed *manifest.Segment) (*segment.Segment, error) {
	if err != nil {
		return nil, fmt.Errorf("cannot open segment %s: %w", listed.Key, err)
	}
	if s.Documents() != listed.Documents {
		return nil, fmt.Errorf("cannot open segment %s: %w: it holds %d documents, and the manifest says %d",
			listed.Key, segment.ErrDamaged, s.Documents(), listed.Documents)
	}
	return s, nil
}

// Dead returns the numbers of the dead documents of a segment. The parameter listed is the
// segment's entry in the manifest. The caller may change the bitmap. The error of Dead wraps
// segment.ErrDamaged if the overlay with the dead documents is damaged.
func Dead(ctx context.Context, bucket blob.Reader, listed *manifest.Segment) (*roaring.Bitmap, error) {
	if listed.Deletions == nil {
		return roaring.New(), nil
	}
	content, err := bucket.Get(ctx, listed.Deletions.Key, blob.Range{})
	if err != nil {
		return nil, fmt.Errorf("cannot read overlay %s: %w", listed.Deletions.Key, err)
	}
	d, err := segment.DecodeDeletions(content)
	if err == nil && (d.Documents != listed.Documents || int(d.Dead.GetCardinality()) != listed.Deletions.Documents) {
		err = fmt.Errorf("%w: it speaks of %d dead of %d documents, and the manifest of %d of %d",
			segment.ErrDamaged, d.Dead.GetCardinality(), d.Documents, listed.Deletions.Documents, listed.Documents)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read overlay %s: %w", listed.Deletions.Key, err)
	}
	return d.Dead, nil
}

// Ranks returns the rank of each document of a listed segment; nil if the segment has no
// overlay with ranks. Its error wraps segment.ErrDamaged if the overlay is damaged, or is
// for another number of documents.
func Ranks(ctx context.Context, bucket blob.Reader, listed *manifest.Segment) ([]segment.Rank, error) {
	if listed.Ranks == nil {
		return nil, nil
	}
	content, err := bucket.Get(ctx, listed.Ranks.Key, blob.Range{})
	if err != nil {
		return nil, fmt.Errorf("cannot read overlay %s: %w", listed.Ranks.Key, err)
	}
	ranks, err := segment.DecodeRanks(content)
	if err == nil && len(ranks) != listed.Documents {
		err = fmt.Errorf("%w: it has ranks of %d documents, and the manifest says %d", segment.ErrDamaged, len(ranks), listed.Documents)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read overlay %s: %w", listed.Ranks.Key, err)
	}
	return ranks, nil
}

// OpenAnchors opens the overlay with the anchors of a segment: the texts of links to its documents.
// It reads only the overlay's tail, which says where everything is. The parameter listed is the
// segment's entry in the manifest, which must have such an overlay. The error of OpenAnchors wraps
// segment.ErrDamaged if the overlay does not match the entry.
func OpenAnchors(ctx context.Context, source segment.Source, listed *manifest.Segment) (*segment.Segment, error) {
	a := listed.Anchors
	s, err := segment.Open(ctx, source, segment.Ref{Key: a.Key, Bytes: a.Bytes, Tail: a.Tail})
	if err != nil {
		return nil, fmt.Errorf("cannot open anchors %s: %w", a.Key, err)
	}
	if s.Documents() != listed.Documents {
		return nil, fmt.Errorf("cannot open anchors %s: %w: they are of %d documents, and the manifest says %d",
			a.Key, segment.ErrDamaged, s.Documents(), listed.Documents)
	}
	return s, nil
}

// OpenUnvisited opens the overlay with unvisited URLs: URLs without a stored page. The parameter
// listed is its entry in the manifest. OpenUnvisited reads only the overlay's tail, which says
// where everything is. The error wraps segment.ErrDamaged if the overlay does not match the
// entry.
func OpenUnvisited(ctx context.Context, source segment.Source, listed *manifest.Unvisited) (*segment.Segment, error) {
	s, err := segment.Open(ctx, source, segment.Ref{Key: listed.Key, Bytes: listed.Bytes, Tail: listed.Tail})
	if err != nil {
		return nil, fmt.Errorf("cannot open unvisited URLs %s: %w", listed.Key, err)
	}
	if s.Documents() != listed.Documents {
		return nil, fmt.Errorf("cannot open unvisited URLs %s: %w: there are %d, and the manifest says %d",
			listed.Key, segment.ErrDamaged, s.Documents(), listed.Documents)
	}
	return s, nil
}

// IsDamaged reports whether an error says that a segment or its overlay is damaged or missing. Such
// an error remains until the object is repaired; another try does not help.
func IsDamaged(err error) bool {
	return errors.Is(err, segment.ErrDamaged) || errors.Is(err, blob.ErrAbsent)
}

// AddSegment adds the stored segment t to the generation's list of segments. The parameter parts
// says which of its documents come from which package. All its documents are alive. If a segment
// with the same key is listed, it is replaced, and its overlays are dropped. AddSegment fails with
// ErrStale if t's ticket (the right to list a freshly stored object) is not valid.
func (e *Edit) AddSegment(t Segment, parts ...manifest.Part) error {
	if !e.listable(t.Key, t.ticket) {
		return ErrStale
	}
	e.next.Segments = slices.DeleteFunc(e.next.Segments, func(s manifest.Segment) bool { return s.Key == t.Key })
	t.Parts = parts
	e.next.Segments = append(e.next.Segments, t.Segment)
	return nil
}

// ReplaceSegments lists the merged segment t in place of the segments with the former keys. It
// condemns the former segments: they will be deleted. The parameter parts says which of t's
// documents come from which package. The field Compared of t becomes true if it is true for all
// former segments. ReplaceSegments fails with ErrStale if t's ticket (the right to list a
// freshly stored object) is not valid, or if one of the former keys is not listed.
func (e *Edit) ReplaceSegments(former []string, t Segment, parts ...manifest.Part) error {
	if !e.listable(t.Key, t.ticket) {
		return ErrStale
	}
	t.Parts = parts
	t.Compared = !slices.ContainsFunc(e.next.Segments, func(s manifest.Segment) bool { return slices.Contains(former, s.Key) && !s.Compared })
	var err error
	e.next.Segments, err = replace(e, e.next.Segments, func(s manifest.Segment) string { return s.Key }, former, t.Segment)
	return err
}

// segment returns the index in e.next.Segments of the segment with the given key; -1 if there is
// none.
func (e *Edit) segment(key string) int {
	return slices.IndexFunc(e.next.Segments, func(s manifest.Segment) bool { return s.Key == key })
}

// MarkCompared must be called when the function sweep has compared the living documents of segments
// with those of other partitions. It sets the field Compared of these segments (see
// manifest.Segment). The arguments are the segments' entries as they were at the comparison. If a
// segment has fewer dead documents now, some of its living documents were not compared: then
// MarkCompared leaves it unmarked. It reports whether any field has changed.
func (e *Edit) MarkCompared(compared ...manifest.Segment) (changed bool) {
	for _, then := range compared {
		if i := e.segment(then.Key); i >= 0 && !e.next.Segments[i].Compared && e.next.Segments[i].Dead() >= then.Dead() {
			e.next.Segments[i].Compared, changed = true, true
		}
	}
	return changed
}

// RewriteSegment sets the field Erase of a segment, so that the function merge rewrites it without
// its dead documents, which include pages to erase.
func (e *Edit) RewriteSegment(key string) {
	if i := e.segment(key); i >= 0 {
		e.next.Segments[i].Erase = true
	}
}

// Mask marks documents of listed segments as dead. It takes a map from a segment's key to all
// documents that shall be dead, including those that are dead already. A segment without a live
// document is unlisted and condemned (marked for deletion).
//
// Mask stores overlays immediately, before the commit. Their keys contain the number of the
// generation being made. If the commit begins again after another committer was faster, this number
// is higher: then Mask is called again, and stores the overlays under other keys.
func (e *Edit) Mask(ctx context.Context, dead map[string]*roaring.Bitmap) error {
	e.next.Segments = slices.DeleteFunc(e.next.Segments, func(s manifest.Segment) bool {
		d := dead[s.Key]
		over := d != nil && int(d.GetCardinality()) == s.Documents
		if over {
			e.condemn(s.Key)
		}
		return over
	})
	puts, within := errgroup.WithContext(ctx)
	puts.SetLimit(parallel)
	for i := range e.next.Segments {
		s := &e.next.Segments[i]
		d := dead[s.Key]
		if d == nil || int(d.GetCardinality()) == s.Dead() {
			continue
		}
		puts.Go(func() (err error) {
			s.Deletions, err = e.putDeletions(within, segment.Deletions{Documents: s.Documents, Dead: d})
			return err
		})
	}
	return puts.Wait()
}

// SetRanks sets the ranks of the documents of listed segments. In the map ranks, the key is a
// segment's key; the value has a rank for each document, or is nil to remove the ranks. Segments
// that are not in the map keep their ranks. SetRanks reports whether any ranks have changed: an
// overlay with the same ranks stays.
//
// SetRanks stores the new overlays immediately, before the commit. If the commit begins again,
// SetRanks is called again, and stores them under other keys (see Mask).
func (e *Edit) SetRanks(ctx context.Context, ranks map[string][]segment.Rank) (changed bool, err error) {
	puts, within := errgroup.WithContext(ctx)
	puts.SetLimit(parallel)
	for i := range e.next.Segments {
		s := &e.next.Segments[i]
		of, given := ranks[s.Key]
		switch {
		case !given:
			continue
		case of == nil:
			changed, s.Ranks = changed || s.Ranks != nil, nil
			continue
		case len(of) != s.Documents:
			return false, fmt.Errorf("cannot rank segment %s: %d ranks for %d documents", s.Key, len(of), s.Documents)
		}
		content, err := segment.EncodeRanks(of)
		if err != nil {
			return false, err
		}
		if s.Ranks != nil && layout.IsOverlayOf(s.Ranks.Key, content) {
			continue
		}
		changed = true
		puts.Go(func() error {
			key, err := e.putOverlay(within, content)
			s.Ranks = &manifest.Overlay{Key: key, Bytes: int64(len(content))}
			return err
		})
	}
	return changed, puts.Wait()
}

// SetAnchors gives listed segments overlays with anchors: the texts of links to their documents. It
// takes a map from a segment's key to the bytes of its new overlay. An overlay has the format of a
// segment; its document n has the anchors of document n of the listed segment. A nil value removes
// the anchors. Segments that are not in the map keep theirs. SetAnchors reports whether any anchors
// have changed. If the listed overlay has the same bytes already, nothing changes.
//
// SetAnchors stores the new overlays immediately, before the commit. If the commit begins again,
// SetAnchors is called again, and stores them under other keys (see Mask).
func (e *Edit) SetAnchors(ctx context.Context, anchors map[string][]byte) (changed bool, err error) {
	for i := range e.next.Segments {
		s := &e.next.Segments[i]
		content, given := anchors[s.Key]
		switch {
		case !given:
			continue
		case content == nil:
			changed, s.Anchors = changed || s.Anchors != nil, nil
			continue
		case s.Anchors != nil && layout.IsOverlayOf(s.Anchors.Key, content):
			continue
		}
		tail, err := segment.TailOf(content)
		if err != nil {
			return false, fmt.Errorf("cannot set anchors of segment %s: %w", s.Key, err)
		}
		key, err := e.putOverlay(ctx, content)
		if err != nil {
			return false, err
		}
		s.Anchors, changed = &manifest.Anchors{Key: key, Bytes: int64(len(content)), Tail: tail}, true
	}
	return changed, nil
}

// SetUnvisited sets the overlay with the unvisited URLs of the partition, those without a stored
// page (see manifest.Unvisited). The parameter content holds the bytes of the overlay; nil means
// that there shall be none. The next parameter is the number of URLs in the overlay; the last is the
// number of URLs that a limit has left out of it. SetUnvisited reports whether the manifest has
// changed. It changes nothing if content and the last number are those of the listed overlay.
//
// SetUnvisited stores the new overlay immediately, before the commit. If the commit begins again,
// SetUnvisited is called again, and stores the overlay under another key (see Mask).
func (e *Edit) SetUnvisited(ctx context.Context, content []byte, documents, cut int) (changed bool, err error) {
	listed := e.next.Unvisited
	switch {
	case content == nil:
		e.next.Unvisited = nil
		return listed != nil, nil
	case listed != nil && listed.Cut == cut && layout.IsOverlayOf(listed.Key, content):
		return false, nil
	}
	tail, err := segment.TailOf(content)
	if err != nil {
		return false, fmt.Errorf("cannot set unvisited URLs: %w", err)
	}
	key, err := e.putOverlay(ctx, content)
	if err != nil {
		return false, err
	}
	e.next.Unvisited = &manifest.Unvisited{Key: key, Bytes: int64(len(content)), Tail: tail, Documents: documents, Cut: cut}
	return true, nil
}

// texts returns the keys of all listed overlays that hold texts of pages: overlays with anchors,
// the overlay with unvisited URLs, and dictionaries.
func (e *Edit) texts() map[string]bool {
	keys := make(map[string]bool)
	if u := e.next.Unvisited; u != nil {
		keys[u.Key] = true
	}
	for _, s := range e.next.Segments {
		if s.Anchors != nil {
			keys[s.Anchors.Key] = true
		}
	}
	if e.next.Dictionaries != nil {
		for _, d := range e.next.Dictionaries.All {
			keys[d.Key] = true
		}
	}
	return keys
}

// condemnTexts condemns (marks for deletion) those overlays with texts of pages that the edit has
// taken off the lists. The parameter before holds the keys of all overlays with texts that were
// listed before the edit (see texts).
func (e *Edit) condemnTexts(before map[string]bool) {
	now := e.texts()
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if !now[key] && !e.next.IsCondemned(key) {
			e.condemn(key)
		}
	}
}

// SetRanked sets Manifest.Ranked to a hash that identifies the input from which the
// ranks were computed. It reports whether Ranked has changed.
func (e *Edit) SetRanked(of string) (changed bool) {
	changed = e.next.Ranked != of
	e.next.Ranked = of
	return changed
}

// putDeletions stores an overlay with dead documents, for the generation being made, and
// returns the overlay's entry in the manifest.
func (e *Edit) putDeletions(ctx context.Context, d segment.Deletions) (*manifest.Deletions, error) {
	content, err := d.Encode()
	if err != nil {
		return nil, fmt.Errorf("cannot encode overlay: %w", err)
	}
	key, err := e.putOverlay(ctx, content)
	listed := &manifest.Deletions{Key: key, Bytes: int64(len(content)), Documents: int(d.Dead.GetCardinality())}
	if base64.StdEncoding.EncodedLen(len(content)) <= manifest.MostCopied {
		listed.Copy = base64.StdEncoding.EncodeToString(content)
	}
	return listed, err
}

// putOverlay stores an overlay (an object with later data about a segment) for the generation being
// made, and returns the overlay's key.
func (e *Edit) putOverlay(ctx context.Context, content []byte) (string, error) {
	key := layout.OverlayKey(e.next.Partition, e.Generation(), layout.ContentHash(content))
	if err := blob.CreateOnce(ctx, e.bucket, key, content); err != nil {
		return "", fmt.Errorf("cannot put overlay %s: %w", key, err)
	}
	return key, nil
}

// DropPackage takes a package off the list of packages, condemns it (marks it for deletion), and
// marks its documents as dead in all segments. It fails with ErrStale if no package is listed under
// the key.
func (e *Edit) DropPackage(ctx context.Context, key string) error {
	pkg := e.listed(key)
	if pkg == nil {
		return ErrStale
	}
	e.condemn(key)
	return e.unlistPackage(ctx, *pkg)
}

// unlistPackage takes a package off the list of packages, and marks its documents as
// dead in all segments.
func (e *Edit) unlistPackage(ctx context.Context, pkg manifest.Package) error {
	e.next.Packages = slices.DeleteFunc(e.next.Packages, func(p manifest.Package) bool { return p.ID == pkg.ID })
	dead := make(map[string]*roaring.Bitmap)
	for i := range e.next.Segments {
		s := &e.next.Segments[i]
		from, to, found := s.Part(pkg.ID)
		if !found {
			continue
		}
		d, err := Dead(ctx, e.bucket, s)
		if err != nil {
			return err
		}
		d.AddRange(uint64(from), uint64(to))
		dead[s.Key] = d
	}
	return e.Mask(ctx, dead)
}
