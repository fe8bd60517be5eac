package manifest

import (
	"cmp"
	"encoding/base64"
	"iter"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Segment is the entry of a segment in a manifest. The segment's documents are numbered from 0:
// first the documents of Parts[0], then those of Parts[1], and so on.
type Segment struct {
	Key       string     `json:"key"`
	Bytes     int64      `json:"bytes"`
	Tail      int64      `json:"tail"`      // size in bytes of the segment's tail, which a reader requests first
	Documents int        `json:"documents"` // number of documents, dead ones included
	Parts     []Part     `json:"parts"`     // a part for each package, in the order of the documents
	Deletions *Deletions `json:"deletions,omitempty"`
	Ranks     *Overlay   `json:"ranks,omitempty"`
	Anchors   *Anchors   `json:"anchors,omitempty"`
	// Erase is true if the segment contains, as dead documents, pages that an operator wants
	// erased. It must be rewritten without them.
	Erase bool `json:"erase,omitempty"`
	// Compared is true once the function sweep has compared the segment with other partitions. If a
	// URL belonged to another partition earlier, that partition may still have a version of the
	// page. The sweep then marks all versions but the newest as dead.
	Compared bool `json:"compared,omitempty"`
}

// Part is a run of consecutive documents of a segment that come from the same package.
type Part struct {
	Package   uint32 `json:"package"` // ID of the package; the manifest may no longer list the package
	Documents int    `json:"documents"`
}

// Deletions is the entry of an overlay: an object beside a segment that marks documents of the
// segment as dead. If a segment has no such overlay, all its documents are alive.
type Deletions struct {
	Key       string `json:"key"`
	Bytes     int64  `json:"bytes"`
	Documents int    `json:"documents"` // number of dead documents
	// Copy is the overlay's content in base64, if this takes at most MostCopied bytes: a query need not read
	// the overlay itself then. "" if it is larger, or was written by an earlier version of the program.
	Copy string `json:"copy,omitempty"`
}

// MostCopied is the greatest length, in bytes, of Deletions.Copy.
const MostCopied = 512

// Content returns the content of the overlay from its copy in the manifest; nil if there is no copy, or if it is not
// what the overlay has, by the hash in its key.
func (d *Deletions) Content() []byte {
	content, err := base64.StdEncoding.DecodeString(d.Copy)
	if err != nil || !layout.IsOverlayOf(d.Key, content) {
		return nil
	}
	return content
}

// Overlay is the entry of an overlay: an object beside a segment that holds the ranks of the
// segment's documents. If a segment has no such overlay, its documents have no ranks.
type Overlay struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
}

// Anchors is the entry of an overlay: an object beside a segment that holds the texts by which
// links name the segment's documents. The overlay has the format of a segment, and gives these
// documents the same numbers.
type Anchors struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
	Tail  int64  `json:"tail"` // size in bytes of the overlay's tail, which a reader requests first
}

// Unvisited is the entry of the object with a partition's URLs that have no stored page. It has the
// format of a segment: each document stands for one URL, and has the texts of the links to this URL
// as headings.
type Unvisited struct {
	Key       string `json:"key"`
	Bytes     int64  `json:"bytes"`
	Tail      int64  `json:"tail"` // size in bytes of the overlay's tail, which a reader requests first
	Documents int    `json:"documents"`
	Cut       int    `json:"cut,omitempty"` // number of URLs that are left out, because there are too many
}

// Overlays yields the key and the size in bytes of each overlay of a segment: of its deletions,
// ranks and anchors.
func (s *Segment) Overlays() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		if d := s.Deletions; d != nil && !yield(d.Key, d.Bytes) {
			return
		}
		if r := s.Ranks; r != nil && !yield(r.Key, r.Bytes) {
			return
		}
		if a := s.Anchors; a != nil {
			yield(a.Key, a.Bytes)
		}
	}
}

// Dead returns the number of dead documents.
func (s *Segment) Dead() int {
	if s.Deletions == nil {
		return 0
	}
	return s.Deletions.Documents
}

// Live returns the number of documents that are alive.
func (s *Segment) Live() int { return s.Documents - s.Dead() }

// Part returns the numbers of the documents that come from the package with the given ID. They are
// consecutive: the results are the first number, and the last number plus 1. found is false if no
// document comes from the package.
func (s *Segment) Part(id uint32) (from, to int, found bool) {
	for _, part := range s.Parts {
		to = from + part.Documents
		if part.Package == id {
			return from, to, true
		}
		from = to
	}
	return 0, 0, false
}

// maxEpochs is the greatest number of batches in Manifest.Closed, which has at most one batch of
// each epoch. If Closed is full, earlier epochs may have been removed from it. So all batches of
// epochs before the first one in Closed then count as closed: their pages must not be stored any
// more.
const maxEpochs = 64

// IsClosed reports whether a batch is closed: its pages must not be stored any more. It is meant
// for batches that are not in m.Consumed. A batch is closed if
//   - m.Closed has a batch of its epoch with the same or a higher token, or
//   - m.Closed is full (see maxEpochs) and begins with a later epoch.
//
// Usually, the pages of such a batch were stored before, or come too late. It may also be a new
// batch that got the number of an earlier one, because Redis was restored from an old copy. Its
// pages must not be stored either: they would have the same versions as those of the earlier batch.
func (m *Manifest) IsClosed(batch layout.Version) bool {
	i, found := m.closed(batch.Epoch)
	if !found {
		return i == 0 && len(m.Closed) == maxEpochs
	}
	return batch.Token <= m.Closed[i].Token
}

// Close closes a batch and all batches of its epoch with lower tokens: their pages must not be
// stored any more (see IsClosed).
func (m *Manifest) Close(batch layout.Version) {
	i, found := m.closed(batch.Epoch)
	switch {
	case m.IsClosed(batch):
	case found:
		m.Closed[i] = batch
	default:
		m.Closed = slices.Insert(m.Closed, i, batch)
		m.Closed = m.Closed[max(0, len(m.Closed)-maxEpochs):]
	}
}

// LastEpoch returns the highest epoch of the batches in m.Consumed and m.Closed; 0 if both are empty.
func (m *Manifest) LastEpoch() uint64 {
	var last uint64
	for _, c := range m.Consumed {
		last = max(last, c.Batch.Epoch)
	}
	for _, batch := range m.Closed {
		last = max(last, batch.Epoch)
	}
	return last
}

// closed looks up an epoch in the list m.Closed, which is sorted by epoch and has at most one batch
// of each epoch. If the list has a batch of the epoch, closed returns its index and true. Otherwise
// it returns false, and the index at which such a batch would have to be inserted.
func (m *Manifest) closed(epoch uint64) (int, bool) {
	return slices.BinarySearchFunc(m.Closed, epoch, func(v layout.Version, epoch uint64) int {
		return cmp.Compare(v.Epoch, epoch)
	})
}

// Gone is a page that was stored once and has vanished from its URL, according to the last outcome
// of the URL. It stays in the list Manifest.Gone as long as segments have an earlier version of the
// page as a live document, or may get one from a package or spool object with such a version.
type Gone struct {
	ID layout.Identity `json:"id"`
	// Version is the version of the outcome that made the page gone. The page's documents with lower
	// versions must be marked as dead; a document with a higher version, fetched later, stays alive.
	Version layout.Version `json:"version"`
	// Masked is true if all listed segments have marked the page's earlier documents as dead: those
	// with a version below the field Version. A commit that adds another segment must mark such
	// documents in it, too.
	Masked bool `json:"masked,omitempty"`
}

// AddGone adds pages to m.Gone, the list of vanished pages. The list stays sorted by identity. Of
// two entries for one page it keeps the entry with the higher version.
func (m *Manifest) AddGone(pages ...Gone) {
	m.Gone = append(m.Gone, pages...)
	slices.SortStableFunc(m.Gone, func(a, b Gone) int {
		return cmp.Or(a.ID.Compare(b.ID), b.Version.Compare(a.Version))
	})
	m.Gone = slices.CompactFunc(m.Gone, func(a, b Gone) bool { return a.ID == b.ID })
}

// FindGone returns the entry of a page in m.Gone, the list of vanished pages; nil if there is none.
func (m *Manifest) FindGone(id layout.Identity) *Gone {
	i, found := slices.BinarySearchFunc(m.Gone, id, func(g Gone, id layout.Identity) int { return g.ID.Compare(id) })
	if !found {
		return nil
	}
	return &m.Gone[i]
}
