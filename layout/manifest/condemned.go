package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Condemned is the record of an object that will be deleted. It is deleted when a grace (a fixed
// waiting time) is over and no kept generation lists the object any more. The record stays for
// another grace after the deletion, because other processes may still be about to delete the
// object or to list it.
//
// Of overlays, only those with anchors, unvisited URLs or dictionaries are condemned: they hold texts
// of pages, which may be forgotten. Other overlays are deleted without being condemned: their keys,
// which contain a generation, are never used again.
type Condemned struct {
	Key   string    `json:"key"`
	At    time.Time `json:"at"`    // time at which the grace (the waiting time before the deletion) begins
	Since uint64    `json:"since"` // number of the first generation that does not list the object
	// Erase is true if the object may contain pages that an operator wants erased: it is deleted
	// after the grace even if a kept generation lists it.
	Erase bool `json:"erase,omitempty"`
	// Gone is the time at which the deletion of the object was recorded; zero before.
	Gone time.Time `json:"gone,omitzero"`
}

// Condemn adds the objects with the given keys to m.Condemned, the list of objects to delete after
// a grace (a waiting time). The next generation must not list these objects. The grace begins at the
// given time, the present by the clock of this committer. But m.Time, the time of the last commit,
// may be later, because another committer's clock is ahead. If it is a little later, the grace
// begins at m.Time, so that it is not too short. If it is later by Fresh or more, that clock was
// wrong, and m.Time is ignored.
func (m *Manifest) Condemn(at time.Time, keys ...string) {
	if ahead := m.Time.Sub(at); ahead > 0 && ahead < Fresh {
		at = m.Time
	}
	for _, key := range keys {
		m.Condemned = append(m.Condemned, Condemned{Key: key, At: at.UTC().Truncate(time.Millisecond), Since: m.Generation + 1})
	}
}

// Erase sets the field Erase in all records of m.Condemned, the objects to delete, and in all lists of
// older records. The field has the effect that an object is deleted at the end of its grace (a waiting
// time), even if a kept generation lists it. Erase reports whether any record or list has changed.
func (m *Manifest) Erase() (changed bool) {
	for i := range m.Condemned {
		changed = changed || !m.Condemned[i].Erase
		m.Condemned[i].Erase = true
	}
	for i := range m.CondemnedLists {
		changed = changed || !m.CondemnedLists[i].Erase
		m.CondemnedLists[i].Erase = true
	}
	return changed
}

// IsCondemned reports whether m.Condemned has a record of the object. Such an object will be deleted, or was
// deleted a short while ago, and no generation may list it. Older records are not in m.Condemned, but in the lists
// in m.CondemnedLists, which package layout/partition reads.
func (m *Manifest) IsCondemned(key string) bool {
	return slices.ContainsFunc(m.Condemned, func(c Condemned) bool { return c.Key == key })
}

// Collectable reports whether a condemned object may be deleted now. All of this must be true:
//   - The deletion is not recorded yet: c.Gone is zero.
//   - The grace, a waiting time that begins at c.At, is over.
//   - No kept generation lists the object, or c.Erase allows to delete it all the same.
func (m *Manifest) Collectable(c Condemned, now time.Time, grace time.Duration) bool {
	return c.Gone.IsZero() && now.Sub(c.At) >= grace && (c.Erase || c.Since <= m.Oldest)
}

// CondemnedList is the entry, in a manifest, of a list: an object that has older records of condemned objects, so
// that the manifest stays short. The key of the list begins with layout.Overlays. All objects in a list are
// deleted together, as soon as each of them may be deleted: when the grace (the waiting time) of the last one has
// ended, and no kept generation lists any of them.
type CondemnedList struct {
	Key     string    `json:"key"`
	Bytes   int64     `json:"bytes"`
	Records int       `json:"records"` // number of records
	At      time.Time `json:"at"`      // latest At of the records
	Since   uint64    `json:"since"`   // highest Since of the records
	// Erase is true if one of the objects may contain pages that an operator wants erased: they are
	// deleted after the grace even if a kept generation lists them.
	Erase bool `json:"erase,omitempty"`
	// Gone is the time at which the deletion of the objects was recorded; zero before.
	Gone time.Time `json:"gone,omitzero"`
}

// CollectableList reports whether the objects of a list may be deleted now, as Collectable does for one object.
func (m *Manifest) CollectableList(l CondemnedList, now time.Time, grace time.Duration) bool {
	return m.Collectable(Condemned{At: l.At, Since: l.Since, Erase: l.Erase, Gone: l.Gone}, now, grace)
}

// condemnedDocument is the JSON form of an object with records of condemned objects. It has a sum (see
// layout.Seal), and is compressed by zstd:
//
//	{"condemnedFormat": 1, "condemned": [{"key": "books/0000/….book", "at": "2026-11-21T22:00:00.123Z", "since": 7}], "sum": "…"}
type condemnedDocument struct {
	Format    int         `json:"condemnedFormat"`
	Condemned []Condemned `json:"condemned"`
}

const condemnedFormat = 1

// EncodeCondemned encodes a list of records. It returns the bytes of the list's object, and the entry of the list
// in the manifest, without a key. There must be at least one record.
func EncodeCondemned(records []Condemned) ([]byte, CondemnedList, error) {
	content, err := json.Marshal(condemnedDocument{condemnedFormat, records})
	if err != nil {
		return nil, CondemnedList{}, fmt.Errorf("cannot encode list of condemned objects: %w", err)
	}
	stored := compress(layout.Seal(content))
	l := CondemnedList{Bytes: int64(len(stored)), Records: len(records), At: records[0].At}
	for _, c := range records {
		if c.At.After(l.At) {
			l.At = c.At
		}
		l.Since, l.Erase = max(l.Since, c.Since), l.Erase || c.Erase
	}
	return stored, l, nil
}

// Decode returns the records of a list, given the bytes of its object. It fails with ErrDamaged if they are not
// the bytes for which the entry l was made.
func (l *CondemnedList) Decode(stored []byte) ([]Condemned, error) {
	content, err := unseal(stored)
	if err != nil {
		return nil, err
	}
	var d condemnedDocument
	if err := json.Unmarshal(content, &d); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	switch {
	case d.Format > condemnedFormat:
		return nil, fmt.Errorf("it is of format %d, and this program reads format %d only: use the version that wrote it", d.Format, condemnedFormat)
	case d.Format < 1:
		err = errors.New("it is no list of condemned objects")
	case len(d.Condemned) != l.Records || !layout.IsOverlayOf(l.Key, stored):
		err = fmt.Errorf("it is another list, of %d condemned objects", len(d.Condemned))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return d.Condemned, nil
}
