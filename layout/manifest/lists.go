package manifest

import (
	"cmp"
	"iter"
	"slices"
	"time"

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
	// Erase is true if the segment contains forgotten pages, as dead documents. It must
	// be rewritten without them.
	Erase bool `json:"erase,omitempty"`
	// Compared is true once the sweep has compared the documents with those of other
	// partitions, where an earlier strategy may have stored older versions of the pages.
	// Since then only the newest version of each page is alive.
	Compared bool `json:"compared,omitempty"`
}

// Part is a run of consecutive documents of a segment that come from the same package.
type Part struct {
	Package   uint32 `json:"package"` // ID of the package; the manifest may no longer list the package
	Documents int    `json:"documents"`
}

// Deletions is the entry of the overlay that marks documents of a segment as dead. In a segment
// without such an overlay, all documents are alive.
type Deletions struct {
	Key       string `json:"key"`
	Bytes     int64  `json:"bytes"`
	Documents int    `json:"documents"` // number of dead documents
}

// Overlay is an overlay with the ranks of a segment's documents. In a segment without it,
// no document has a rank.
type Overlay struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
}

// Anchors is the overlay with the texts by which links name the documents of a segment. It is a
// segment itself, and gives these documents the same numbers.
type Anchors struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
	Tail  int64  `json:"tail"` // size in bytes of the overlay's tail, which a reader requests first
}

// Unvisited is the overlay with URLs without a stored page. It is a segment itself: each of its
// documents stands for one URL, and has the texts of the links to this URL as headings.
type Unvisited struct {
	Key       string `json:"key"`
	Bytes     int64  `json:"bytes"`
	Tail      int64  `json:"tail"` // size in bytes of the overlay's tail, which a reader requests first
	Documents int    `json:"documents"`
	Cut       int    `json:"cut,omitempty"` // number of URLs that are left out, because there are too many
}

// Overlays yields the key and the size in bytes of each overlay of a segment.
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

// Part returns the numbers of the documents that come from the package with the given
// ID: from, from+1, …, to−1. found is false if there are none.
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

// maxEpochs is the greatest number of epochs in Manifest.Closed. If Closed is full, the batches of
// all epochs before its first epoch also count as closed.
const maxEpochs = 64

// IsClosed reports whether a batch is closed, so that it must not be packed. It is meant for
// batches that are not in Consumed. A batch is closed if
//   - Closed has a batch of its epoch with the same or a higher token, or
//   - Closed is full (see maxEpochs) and begins with a later epoch.
//
// Such a batch was packed before, or came too late, or its version was given to two batches,
// because Redis was restored from an old copy. Then packing it could give two pages the same
// version.
func (m *Manifest) IsClosed(batch layout.Version) bool {
	i, found := m.closed(batch.Epoch)
	if !found {
		return i == 0 && len(m.Closed) == maxEpochs
	}
	return batch.Token <= m.Closed[i].Token
}

// Close closes a batch and all batches of its epoch with lower tokens (see IsClosed).
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

// closed looks up an epoch in the list m.Closed, which is sorted by epoch and has at most one batch
// of each epoch. It returns the index of the epoch's batch, and true. If the list has no batch of
// the epoch, it returns the index of the first batch of a later epoch, or the length of the list if
// there is none, and false.
func (m *Manifest) closed(epoch uint64) (int, bool) {
	return slices.BinarySearchFunc(m.Closed, epoch, func(v layout.Version, epoch uint64) int {
		return cmp.Compare(v.Epoch, epoch)
	})
}

// Gone is a page that was stored once and has vanished from its URL, as the last outcome of the URL
// says. The page stays in the list Manifest.Gone as long as an earlier version of it is a live
// document of a segment, or may become one, since a package or spool object has it.
type Gone struct {
	ID layout.Identity `json:"id"`
	// Version is the version of the page's last outcome. Documents of the page with higher
	// versions stay alive.
	Version layout.Version `json:"version"`
	// Masked is true if in all listed segments the documents of the page with versions
	// below Version are dead. A commit that adds a segment must mask such documents in
	// it, too.
	Masked bool `json:"masked,omitempty"`
}

// AddGone adds pages to the list m.Gone, which stays sorted by identity. Of two entries
// for one page it keeps the entry with the higher version.
func (m *Manifest) AddGone(pages ...Gone) {
	m.Gone = append(m.Gone, pages...)
	slices.SortStableFunc(m.Gone, func(a, b Gone) int {
		return cmp.Or(a.ID.Compare(b.ID), b.Version.Compare(a.Version))
	})
	m.Gone = slices.CompactFunc(m.Gone, func(a, b Gone) bool { return a.ID == b.ID })
}

// FindGone returns the entry of a page in the list m.Gone; nil if there is none.
func (m *Manifest) FindGone(id layout.Identity) *Gone {
	i, found := slices.BinarySearchFunc(m.Gone, id, func(g Gone, id layout.Identity) int { return g.ID.Compare(id) })
	if !found {
		return nil
	}
	return &m.Gone[i]
}

// Condemned is an object that will be deleted: after a grace, and when no kept
// generation lists it any more. The record stays for another grace after the deletion,
// because other processes may still be about to delete the object or to list it.
//
// Of overlays, only those with anchors, unvisited URLs or dictionaries are condemned: they hold
// texts of pages, which may be forgotten. The others are deleted without being condemned: their keys,
// which contain a generation, are never used again.
type Condemned struct {
	Key   string    `json:"key"`
	At    time.Time `json:"at"`    // time at which the grace begins
	Since uint64    `json:"since"` // number of the first generation that does not list the object
	// Erase is true if the object may contain forgotten pages: it is deleted after the
	// grace even if a kept generation lists it.
	Erase bool `json:"erase,omitempty"`
	// Gone is the time at which the deletion of the object was recorded; zero before.
	Gone time.Time `json:"gone,omitzero"`
}

// Condemn adds a record of each of the objects with the keys to m.Condemned. The next generation
// must not list them. The parameter at is the present time. The grace of the objects begins at the
// later of at and m.Time, the time of the last commit: so a clock that is a little behind does not
// shorten it. But if m.Time is later by Fresh or more, the last committer's clock was wrong, and
// the grace begins at the time at.
func (m *Manifest) Condemn(at time.Time, keys ...string) {
	if ahead := m.Time.Sub(at); ahead > 0 && ahead < Fresh {
		at = m.Time
	}
	for _, key := range keys {
		m.Condemned = append(m.Condemned, Condemned{Key: key, At: at.UTC().Truncate(time.Millisecond), Since: m.Generation + 1})
	}
}

// Erase sets the field Erase in all records of m.Condemned: the objects are deleted after their
// grace even if kept generations list them. It reports whether the field of any record has changed.
func (m *Manifest) Erase() (changed bool) {
	for i := range m.Condemned {
		changed = changed || !m.Condemned[i].Erase
		m.Condemned[i].Erase = true
	}
	return changed
}

// IsCondemned reports whether Condemned has a record of the object, so that no
// generation may list it: it will be deleted, or was deleted a short while ago.
func (m *Manifest) IsCondemned(key string) bool {
	return slices.ContainsFunc(m.Condemned, func(c Condemned) bool { return c.Key == key })
}

// Collectable reports whether a condemned object may be deleted now:
//   - its deletion is not yet recorded (Gone is zero), and
//   - its grace is over, and
//   - no kept generation lists it, or Erase is true.
func (m *Manifest) Collectable(c Condemned, now time.Time, grace time.Duration) bool {
	return c.Gone.IsZero() && now.Sub(c.At) >= grace && (c.Erase || c.Since <= m.Oldest)
}
