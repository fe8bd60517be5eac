package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// storedSegment is a segment that the newest manifest of a partition lists.
type storedSegment struct {
	*manifest.Segment
	partition *audit
}

// readSegments reads all listed segments, overlays with unvisited URLs, and dictionaries. It reports
// damaged objects. It also reports a live document in each of these cases:
//
//   - the page of which it was made does not exist;
//   - the page is gone (no longer at its URL);
//   - the page is forgotten (a takedown covers it);
//   - there is another live document of the page.
func (v *run) readSegments(ctx context.Context) error {
	var all []storedSegment
	var bytes int64
	for _, p := range v.partitions {
		if err := v.unvisited(ctx, p); err != nil {
			return err
		}
		if err := v.dictionaries(ctx, p); err != nil {
			return err
		}
		for i := range p.Segments {
			all = append(all, storedSegment{&p.Segments[i], p})
			bytes += p.Segments[i].Bytes
		}
	}
	v.report.Segments = len(all)
	progress := v.stage(Segments, bytes)
	return each(ctx, all, func(ctx context.Context, s storedSegment) error {
		defer progress.add(s.Bytes)
		content, free, found, err := scratch.Read(ctx, v.Bucket, s.Key, "")
		if err == nil && found {
			defer free()
			return v.documents(ctx, s, content)
		}
		v.unsearchable(s) // a missing one was reported by the method objects
		return err
	})
}

// unsearchable is called for a segment if the segment or the list of its dead documents cannot be
// read, which is reported elsewhere. It marks the packages that have documents in the segment. Because
// of this mark, judgePages does not also report the pages of these packages as missing from the index.
func (v *run) unsearchable(s storedSegment) {
	for _, in := range v.packages {
		if _, _, found := s.Part(in.ID); found && in.partition == s.partition {
			in.unsearchable.Store(true)
		}
	}
}

// openedSegment is a segment with its columns in memory.
type openedSegment struct {
	storedSegment
	opened *segment.Segment
	dead   *roaring.Bitmap // numbers of the dead documents
	// identities of the documents' URLs; the columns below have one value for each document, too
	identities []layout.Identity
	versions   []layout.Version
	packages   *segment.StringColumn
	sites      *segment.StringColumn
	offsets    []uint64
}

// openSegment opens a segment and reads its columns. It fails if the bytes are damaged or the
// segment's key does not have their hash.
func (v *run) openSegment(ctx context.Context, s storedSegment, content []byte) (*openedSegment, error) {
	if err := segment.Check(content); err != nil {
		return nil, err
	}
	if key := layout.SegmentKey(s.partition.Partition, layout.ContentHash(content)); key != s.Key {
		return nil, fmt.Errorf("its content is that of %s", key)
	}
	o := &openedSegment{storedSegment: s}
	var err error
	if o.opened, err = segment.OpenBytes(content); err != nil {
		return nil, err
	}
	if o.identities, err = o.opened.Identities(ctx); err != nil {
		return nil, err
	}
	if o.versions, err = o.opened.Versions(ctx); err != nil {
		return nil, err
	}
	if o.packages, err = o.opened.Strings(ctx, segment.Packages); err != nil {
		return nil, err
	}
	if o.sites, err = o.opened.Strings(ctx, segment.Sites); err != nil {
		return nil, err
	}
	o.offsets, err = o.opened.Numbers(ctx, segment.Offsets)
	return o, err
}

// listedRightly reports each way in which the manifest's entry for a segment differs from the
// segment itself.
func (v *run) listedRightly(o *openedSegment, content []byte) {
	own := o.partition.Partition
	if o.opened.Documents() != o.Documents {
		v.problem(Damaged, own, o.Key, "holds %d documents, and the manifest says %d", o.opened.Documents(), o.Documents)
	}
	if tail, err := segment.TailOf(content); err == nil && tail != o.Tail {
		v.problem(Damaged, own, o.Key, "has a tail of %d bytes, and the manifest says %d", tail, o.Tail)
	}
	there := o.opened.Parts()
	right := len(there) == len(o.Parts)
	for i := 0; right && i < len(there); i++ {
		in := v.byKey[there[i].Package]
		right = there[i].Documents == o.Parts[i].Documents &&
			(in == nil || in.ID == o.Parts[i].Package || !o.partition.lists(o.Parts[i].Package)) // a package that is not listed is reported with its documents
	}
	if !right {
		v.problem(Damaged, own, o.Key, "holds other parts than the manifest says")
	}
}

func (p *audit) lists(id uint32) bool {
	return slices.ContainsFunc(p.Packages, func(pkg manifest.Package) bool { return pkg.ID == id })
}

// deadOf sets o.dead to the numbers of the segment's dead documents. They are listed in an object of
// their own, an overlay. The result known is false if the overlay is missing or damaged.
func (v *run) deadOf(ctx context.Context, o *openedSegment) (known bool, err error) {
	o.dead, err = partition.Dead(ctx, v.Bucket, o.Segment)
	switch {
	case errors.Is(err, blob.ErrAbsent): // reported by the method objects
		return false, nil
	case errors.Is(err, segment.ErrDamaged):
		v.problem(Damaged, o.partition.Partition, o.Deletions.Key, "is damaged: %v", err)
		return false, nil
	}
	return err == nil, err
}

// ranked reports a segment's overlays with ranks and with anchors (texts of links) if they are
// damaged.
func (v *run) ranked(ctx context.Context, o *openedSegment) error {
	_, err := partition.Ranks(ctx, v.Bucket, o.Segment)
	switch {
	case errors.Is(err, blob.ErrAbsent): // reported by the method objects
	case errors.Is(err, segment.ErrDamaged):
		v.problem(Damaged, o.partition.Partition, o.Ranks.Key, "is damaged: %v", err)
	case err != nil:
		return err
	}
	if o.Anchors == nil {
		return nil
	}
	return v.linkTexts(ctx, o.partition, o.Anchors.Key, func(source segment.Source) error {
		_, err := partition.OpenAnchors(ctx, source, o.Segment)
		return err
	})
}

// unvisited checks the overlay in which the unvisited URLs (found but not fetched) of a partition are
// indexed. It reports the overlay if it is damaged.
func (v *run) unvisited(ctx context.Context, p *audit) error {
	if p.Unvisited == nil {
		return nil
	}
	return v.linkTexts(ctx, p, p.Unvisited.Key, func(source segment.Source) error {
		_, err := partition.OpenUnvisited(ctx, source, p.Unvisited)
		return err
	})
}

// dictionaries reports damaged dictionaries of a partition.
func (v *run) dictionaries(ctx context.Context, p *audit) error {
	if p.Dictionaries == nil {
		return nil
	}
	for _, d := range p.Dictionaries.All {
		content, found, err := blob.Find(ctx, v.Bucket, d.Key)
		if err != nil {
			return err
		}
		if found { // a missing one was reported by objects
			if _, err := partition.OpenDictionary(&d, content); err != nil {
				v.problem(Damaged, p.Partition, d.Key, "is damaged: %v", err)
			}
		}
	}
	return nil
}

// linkTexts checks an overlay that contains texts of links, and reports it if it is damaged. There are
// two kinds of such overlays: with the anchors of a segment, and with the unvisited URLs of a
// partition. The caller passes the function open for the kind at hand. This function opens the overlay
// and compares it with its entry in the manifest.
func (v *run) linkTexts(ctx context.Context, p *audit, key string, open func(segment.Source) error) error {
	content, free, found, err := scratch.Read(ctx, v.Bucket, key, "")
	if err != nil || !found { // reported by objects
		return err
	}
	defer free()
	if err = segment.Check(content); err == nil && !layout.IsOverlayOf(key, content) {
		err = errors.New("its content is that of another")
	}
	if err == nil {
		err = open(segment.Bytes(content))
	}
	if err != nil {
		v.problem(Damaged, p.Partition, key, "is damaged: %v", err)
	}
	return nil
}

// documents checks all documents of one segment. It also counts, for each page, the live documents
// made of it. If several documents of the segment have the same kind of problem, it reports only
// the first.
func (v *run) documents(ctx context.Context, s storedSegment, content []byte) error {
	o, err := v.openSegment(ctx, s, content)
	if err != nil {
		if int64(len(content)) == s.Bytes || !errors.Is(err, segment.ErrDamaged) { // a cut one was reported by objects
			v.problem(Damaged, s.partition.Partition, s.Key, "is damaged: %v", err)
		}
		v.unsearchable(s)
		return nil
	}
	v.listedRightly(o, content)
	if err := v.ranked(ctx, o); err != nil {
		return err
	}
	known, err := v.deadOf(ctx, o)
	if err != nil {
		return err
	}
	if !known {
		v.unsearchable(s)
		o.dead = roaring.New()
		o.dead.AddRange(0, uint64(o.opened.Documents()))
	}
	first := make(map[Kind]uint32)
	for doc := range uint32(o.opened.Documents()) {
		for _, kind := range v.document(o, doc) {
			if _, told := first[kind]; !told {
				first[kind] = doc
			}
		}
	}
	for kind, doc := range first {
		if err := v.tell(ctx, o, kind, doc); err != nil {
			return err
		}
	}
	return nil
}

// document checks one document and returns the kinds of its problems. If the document is alive, it
// adds 1 to its page's count of live documents.
func (v *run) document(o *openedSegment, doc uint32) (wrong []Kind) {
	id := o.identities[doc]
	if forget := v.forgotten(o.partition); forget.set != nil && forget.set.ForgetsPage(id, oneString(o.sites, doc)) {
		wrong = append(wrong, Behind)
	}
	in := v.byKey[oneString(o.packages, doc)]
	if o.dead.Contains(doc) || in != nil && (in.gone || !in.Indexed) {
		return wrong
	}
	p := v.pages.at(id, in, int64(o.offsets[doc]))
	if p == nil || !p.has(markDamaged) && p.version != o.versions[doc] {
		return append(wrong, Unaccounted)
	}
	if p.addDocument() > 1 {
		wrong = append(wrong, Double)
	}
	if p.has(markGone) && !in.partition.incomplete() {
		if !v.unmasked(o, id, p.version) {
			return append(wrong, Stale)
		}
		v.count(func(r *Report) { r.Waiting.Gone++ })
	}
	return wrong
}

// unmasked is called for a document that searches still find although its page is gone (no longer at
// its URL). That is no problem as long as the sweep still has to mask the document (mark it as dead).
// unmasked returns true in the two cases in which this is so:
//
//   - A manifest lists the page as gone, and says that its documents are not masked yet. This is the
//     manifest of the document's partition, or of a partition to which the page may have moved.
//   - Pages of the document's partition may have moved to other partitions, and the sweep has not yet
//     compared the document's segment with the segments of those partitions.
func (v *run) unmasked(o *openedSegment, id layout.Identity, version layout.Version) bool {
	elsewhere := v.settings.Elsewhere(o.partition.Partition)
	for _, p := range v.partitions {
		if p != o.partition && !slices.Contains(elsewhere, p.Partition) {
			continue
		}
		if g := p.FindGone(id); g != nil && !g.Masked && g.Version.Compare(version) > 0 {
			return true
		}
	}
	return len(elsewhere) > 0 && !o.Compared
}

// oneString returns the first value of a document in a column; "" if it has none.
func oneString(c *segment.StringColumn, doc uint32) string {
	if values := c.Get(doc); len(values) > 0 {
		return values[0]
	}
	return ""
}

// details has, for each kind of problem of a document, the text that describes it in the report.
// The text follows the URL of the page and the key of the segment.
var details = map[Kind]string{
	Behind:      "is still there, although it is forgotten",
	Unaccounted: "is made of a page that does not stand in its package",
	Double:      "is made of a page that is indexed already",
	Stale:       "is still searched, although the page is gone",
}

// tell adds to the report a problem of the given kind, with the URL of the document that has the
// number doc in the segment.
func (v *run) tell(ctx context.Context, o *openedSegment, kind Kind, doc uint32) error {
	stored, err := o.opened.Stored(ctx, []uint32{doc})
	if err != nil {
		return err
	}
	v.problems.add(Problem{Kind: kind, Partition: o.partition.Partition, Key: o.Key, URL: stored[0].URL, Detail: details[kind]})
	return nil
}

// exists returns the sizes in bytes of a partition's packages, books, segments and overlays, by key.
// It returns all that are in the bucket, whether a manifest lists them or not.
func (v *run) exists(ctx context.Context, p layout.Partition) (map[string]int64, error) {
	sizes := make(map[string]int64)
	for _, prefix := range []string{layout.Packages, layout.Books, layout.Segments, layout.Overlays} {
		for object, err := range v.Bucket.List(ctx, prefix+p.String()+"/", "") {
			if err != nil {
				return nil, fmt.Errorf("cannot list %s of partition %s: %w", prefix, p, err)
			}
			if !layout.IsForeign(object.Key) {
				sizes[object.Key] = object.Size
			}
		}
	}
	return sizes, nil
}

// objects compares the objects that a manifest lists with those that exist. It reports a listed
// object that is missing, has another size, is listed twice, or is also condemned (marked for
// deletion). It counts the objects that are not listed: condemned ones as waiting to be deleted,
// others as orphans. Overlays are treated differently: they may be listed twice, and are not
// counted. The parameter exists has the sizes in bytes of all objects of the partition, by key.
//
// It also reads the lists of older records of condemned objects, and reports a damaged one.
func (v *run) objects(ctx context.Context, m *manifest.Manifest, exists map[string]int64) error {
	condemned := make(map[string]bool, len(m.Condemned))
	for _, c := range m.Condemned {
		condemned[c.Key] = true
	}
	for _, l := range m.CondemnedLists {
		records, err := partition.ReadCondemnedList(ctx, v.Bucket, l)
		if _, found := exists[l.Key]; errors.Is(err, manifest.ErrDamaged) && found {
			v.problem(Damaged, m.Partition, l.Key, "cannot be read, and objects that it names will not be deleted: %v", err)
		}
		if err != nil && !errors.Is(err, manifest.ErrDamaged) {
			return err
		}
		for _, c := range records {
			condemned[c.Key] = true
		}
	}
	seen := make(map[string]bool)
	for key, bytes := range m.Objects() {
		size, found := exists[key]
		switch {
		case !found:
			v.problem(Missing, m.Partition, key, "is missing")
		case size != bytes:
			v.problem(Damaged, m.Partition, key, "has %d bytes, and the manifest says %d", size, bytes)
		}
		overlay := strings.HasPrefix(key, layout.Overlays) // several segments may share an overlay
		if seen[key] && !overlay {
			v.problem(Double, m.Partition, key, "is listed twice")
		}
		if condemned[key] {
			v.problem(Double, m.Partition, key, "is listed and condemned")
		}
		seen[key] = true
	}
	v.count(func(r *Report) {
		for key := range exists {
			switch {
			case seen[key]:
			case strings.HasPrefix(key, layout.Overlays): // earlier generations may list the overlay
			case condemned[key]:
				r.Waiting.Delete++
			default:
				r.Orphans++
			}
		}
	})
	return nil
}
