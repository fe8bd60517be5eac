package manifest

import (
	"slices"
	"time"
)

// Condemned is an object that will be deleted. No generation from Since on
// lists it, so that it may go when all those before are gone, and a grace is
// over. It stays condemned for a grace after it is gone: somebody may be about
// to delete it who has read an earlier generation, or to list it who has put it
// before.
//
// Overlays are not condemned when they leave the list: their names say how old
// they are, and are never used again.
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
func (m *Manifest) Condemn(at time.Time, keys ...string) {
	if ahead := m.Time.Sub(at); ahead > 0 && ahead < Fresh {
		at = m.Time
	}
	for _, key := range keys {
		m.Condemned = append(m.Condemned, Condemned{Key: key, At: at.UTC().Truncate(time.Millisecond), Since: m.Generation + 1})
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
