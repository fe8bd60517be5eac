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
	// Erase: it holds what is forgotten, which is dead, and is to be written
	// anew without.
	Erase bool `json:"erase,omitempty"`
	// Compared: its documents are compared with those of the partitions to which
	// strategies have sent pages of the same sites. Without, it has to be done.
	Compared bool `json:"compared,omitempty"`
}

// Part is the run of a segment's documents that are of one package.
type Part struct {
	Package   uint32 `json:"package"` // its identifier, also when it is not listed any more
	Documents int    `json:"documents"`
}

// Deletions refers to the overlay that says which documents of a segment are
// dead. Where there is none, all are alive.
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

// Part returns the documents of a package, from..to-1; found is false where
// the segment has no part of it.
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

// maxEpochs is of how many epochs a manifest tells what is closed; of earlier
// ones everything is.
const maxEpochs = 64

// IsClosed reports whether a batch that is not in Consumed comes too late: it
// was packed and forgotten, or a Redis that went back in time gave its name
// again. It is never packed, so no page is packed twice under one version.
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

// Gone is a page that was stored and is no more, as its last outcome says. The
// books keep that for good. It is on the list, too, while a document of an
// earlier version is alive, or may be made of a package or a spool object.
type Gone struct {
	ID      layout.Identity `json:"id"`
	Version layout.Version  `json:"version"` // of the outcome; documents of later ones are alive
	// Masked: in no segment a document of it is alive. Whoever lists another
	// segment keeps to that.
	Masked bool `json:"masked,omitempty"`
}

// AddGone lists pages that are gone, each once, sorted: of what is said of one,
// the highest version counts.
func (m *Manifest) AddGone(pages ...Gone) {
	m.Gone = append(m.Gone, pages...)
	slices.SortStableFunc(m.Gone, func(a, b Gone) int {
		return cmp.Or(a.ID.Compare(b.ID), b.Version.Compare(a.Version))
	})
	m.Gone = slices.CompactFunc(m.Gone, func(a, b Gone) bool { return a.ID == b.ID })
}

// FindGone returns what the list says of a page, nil if nothing.
func (m *Manifest) FindGone(id layout.Identity) *Gone {
	i, found := slices.BinarySearchFunc(m.Gone, id, func(g Gone, id layout.Identity) int { return g.ID.Compare(id) })
	if !found {
		return nil
	}
	return &m.Gone[i]
}

// Condemned is an object that will be deleted. No generation from Since on lists
// it, so it may go after a grace, once the generations before Since are gone. It
// stays on this list for a grace after its deletion, because others may still
// be about to delete it or to list it.
//
// Overlays are not condemned: their names tell their age and are never used
// again.
type Condemned struct {
	Key   string    `json:"key"`
	At    time.Time `json:"at"`
	Since uint64    `json:"since"` // generation
	// Erase: it goes after the grace, though a generation that is kept may
	// list it, because it may hold what is forgotten.
	Erase bool `json:"erase,omitempty"`
	// Gone is when it was known to be deleted; zero until then.
	Gone time.Time `json:"gone,omitzero"`
}

// Condemn has objects deleted that this generation, which is being edited, no
// longer lists. A clock that is a little behind that of the commit before does
// not shorten their grace, and one that was far ahead does not stretch it.
func (m *Manifest) Condemn(place time.Time, keys ...string) {
	if ahead := m.Time.Sub(place); ahead > 0 && ahead < Fresh {
		place = m.Time
	}
	for _, key := range keys {
		m.Condemned = append(m.Condemned, Condemned{Key: key, At: place.UTC().Truncate(time.Millisecond), Since: m.Generation + 1})
	}
}

// Erase has all that is condemned deleted after its grace, whoever lists it.
// It reports whether that is new for any object.
func (m *Manifest) Erase() (changed bool) {
	for i := range m.Condemned {
		changed = changed || !m.Condemned[i].Erase
		m.Condemned[i].Erase = true
	}
	return changed
}

// IsCondemned reports whether the object will be or was deleted, so that no
// generation may list it.
func (m *Manifest) IsCondemned(key string) bool {
	return slices.ContainsFunc(m.Condemned, func(c Condemned) bool { return c.Key == key })
}

// Collectable reports whether a condemned object may be deleted, as far as
// this generation tells: the grace is over, and no generation that is kept
// lists it.
func (m *Manifest) Collectable(c Condemned, now time.Time, grace time.Duration) bool {
	return c.Gone.IsZero() && now.Sub(c.At) >= grace && (c.Erase || c.Since <= m.Oldest)
}
