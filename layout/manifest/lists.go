package manifest

import (
	"cmp"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Segment refers to the index of some packages. Its documents are numbered
// part by part.
type Segment struct {
	Key       string     `json:"key"`
	Bytes     int64      `json:"bytes"`
	Tail      int64      `json:"tail"`      // bytes at the end by which it is opened
	Documents int        `json:"documents"` // dead ones too
	Parts     []Part     `json:"parts"`     // of every package at most one
	Deletions *Deletions `json:"deletions,omitempty"`
	// Erase: the segment holds forgotten pages, as dead documents, and must be
	// rewritten without them.
	Erase bool `json:"erase,omitempty"`
	// Compared: the documents were compared with those of all partitions to which
	// strategies have sent pages of the same sites.
	Compared bool `json:"compared,omitempty"`
}

// Part is the run of a segment's documents that come from one package.
type Part struct {
	Package   uint32 `json:"package"` // its identifier, also when it is not listed any more
	Documents int    `json:"documents"`
}

// Deletions refers to the overlay with the dead documents of a segment. Without an
// overlay all are alive.
type Deletions struct {
	Key       string `json:"key"`
	Bytes     int64  `json:"bytes"`
	Documents int    `json:"documents"` // that are dead
}

// Dead returns how many documents are dead.
func (s *Segment) Dead() int {
	if s.Deletions == nil {
		return 0
	}
	return s.Deletions.Documents
}

// Live returns how many documents are alive.
func (s *Segment) Live() int { return s.Documents - s.Dead() }

// Part returns the documents of a package, from to to-1; found is false if the
// segment has none of it.
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

// maxEpochs is the number of epochs of which a manifest holds the closed batches. All
// batches of earlier epochs are closed.
const maxEpochs = 64

// IsClosed reports whether a batch that is not in Consumed is closed: its token is not
// above the highest one of its epoch whose record was dropped from Consumed, or its
// epoch is too old to be held. It was packed, came too late, or has a version that a
// Redis restored from an old copy gave twice. A closed batch is never packed, so that
// no two pages have the same version.
func (m *Manifest) IsClosed(batch layout.Version) bool {
	i, found := m.closed(batch.Epoch)
	if !found {
		return i == 0 && len(m.Closed) == maxEpochs
	}
	return batch.Token <= m.Closed[i].Token
}

// Close closes all batches of an epoch up to this one.
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

func (m *Manifest) closed(epoch uint64) (int, bool) {
	return slices.BinarySearchFunc(m.Closed, epoch, func(v layout.Version, epoch uint64) int {
		return cmp.Compare(v.Epoch, epoch)
	})
}

// Gone is a formerly stored page whose last outcome says that it is gone. The books
// keep the outcome. The page is on this list as long as a document of an earlier
// version is alive, or may come from a package or a spool object.
type Gone struct {
	ID      layout.Identity `json:"id"`
	Version layout.Version  `json:"version"` // of the outcome; documents of later ones are alive
	// Masked says that the documents of the page from before Version are dead in all
	// listed segments. A commit that lists another segment must mask them there, too.
	Masked bool `json:"masked,omitempty"`
}

// AddGone adds gone pages to the list, which is sorted, with the highest version of
// each page.
func (m *Manifest) AddGone(pages ...Gone) {
	m.Gone = append(m.Gone, pages...)
	slices.SortStableFunc(m.Gone, func(a, b Gone) int {
		return cmp.Or(a.ID.Compare(b.ID), b.Version.Compare(a.Version))
	})
	m.Gone = slices.CompactFunc(m.Gone, func(a, b Gone) bool { return a.ID == b.ID })
}

// FindGone returns the entry of a page in the list, nil if there is none.
func (m *Manifest) FindGone(id layout.Identity) *Gone {
	i, found := slices.BinarySearchFunc(m.Gone, id, func(g Gone, id layout.Identity) int { return g.ID.Compare(id) })
	if !found {
		return nil
	}
	return &m.Gone[i]
}

// Condemned is an object that will be deleted. No generation from Since on lists it,
// so it is deleted after a grace, once the generations before Since are deleted. Its
// record stays for another grace, because other processes may still be about to
// delete the object or to list it.
//
// Overlays are not condemned: their names hold their generation and are never used
// again.
type Condemned struct {
	Key   string    `json:"key"`
	At    time.Time `json:"at"`
	Since uint64    `json:"since"` // generation
	// Erase: the object is deleted after the grace even if a kept generation lists
	// it, because it may hold forgotten pages.
	Erase bool `json:"erase,omitempty"`
	// Gone is when its deletion was noted; zero until then.
	Gone time.Time `json:"gone,omitzero"`
}

// Condemn adds objects that this generation no longer lists to the condemned ones.
// Their grace is neither shortened by a clock that is a little behind that of the
// commit before, nor lengthened by one that was far ahead.
func (m *Manifest) Condemn(place time.Time, keys ...string) {
	if ahead := m.Time.Sub(place); ahead > 0 && ahead < Fresh {
		place = m.Time
	}
	for _, key := range keys {
		m.Condemned = append(m.Condemned, Condemned{Key: key, At: place.UTC().Truncate(time.Millisecond), Since: m.Generation + 1})
	}
}

// Erase sets that all condemned objects are deleted after their grace, even if kept
// generations list them. It reports whether that is new for any object.
func (m *Manifest) Erase() (changed bool) {
	for i := range m.Condemned {
		changed = changed || !m.Condemned[i].Erase
		m.Condemned[i].Erase = true
	}
	return changed
}

// IsCondemned reports whether the object is condemned or was deleted a short while
// ago, so that no generation may list it.
func (m *Manifest) IsCondemned(key string) bool {
	return slices.ContainsFunc(m.Condemned, func(c Condemned) bool { return c.Key == key })
}

// Collectable reports whether a condemned object may be deleted by this generation:
// its grace is over, and no kept generation lists it.
func (m *Manifest) Collectable(c Condemned, now time.Time, grace time.Duration) bool {
	return c.Gone.IsZero() && now.Sub(c.At) >= grace && (c.Erase || c.Since <= m.Oldest)
}
