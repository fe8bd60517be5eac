package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// delta is the JSON form of a generation that is stored as the difference from the generation before. The lists of
// its Manifest are nil; the field Changes has their changes instead. All other fields of Manifest are stored as they
// are. So if a list is added to Manifest and not to listChanges, each delta has the whole list.
type delta struct {
	Format int      `json:"format"`
	Log    position `json:"log"`
	*Manifest
	Changes listChanges `json:"changes"`
}

// listChanges has the changes of a generation's lists. They are in a JSON object of their own because of programs that
// know only format 2. Such a program decodes a delta before it checks the format. It ignores this object, takes the
// lists for empty, and then refuses the format.
type listChanges struct {
	Packages       []change[Package]        `json:"packages,omitempty"`
	Books          []change[Book]           `json:"books,omitempty"`
	Segments       []change[Segment]        `json:"segments,omitempty"`
	Consumed       []change[Consumed]       `json:"consumed,omitempty"`
	Closed         []change[layout.Version] `json:"closed,omitempty"`
	Gone           []change[Gone]           `json:"gone,omitempty"`
	Condemned      []change[Condemned]      `json:"condemned,omitempty"`
	CondemnedLists []change[CondemnedList]  `json:"condemnedLists,omitempty"`
	Dictionaries   *dictionariesDelta       `json:"dictionaries,omitempty"`
}

// dictionariesDelta is Dictionaries with the changes of its list All in place of the list.
type dictionariesDelta struct {
	*Dictionaries
	All []change[Dictionary] `json:"all,omitempty"`
}

// position says where a generation stands among checkpoints and deltas.
type position struct {
	Checkpoint uint64    `json:"checkpoint"` // number of the last checkpoint; that of the generation itself if it is one
	Time       time.Time `json:"time"`       // time of that checkpoint
	Bytes      int64     `json:"bytes"`      // its size in bytes, as it is stored
	// Deltas is the sum of the stored sizes, in bytes, of the deltas after the checkpoint, this generation
	// included. Only in the stored form of a delta, this delta is not included, because its own size is not known
	// yet.
	Deltas int64 `json:"deltas"`
}

// deltaOf returns the difference between a generation and the one before.
func deltaOf(before, after *Manifest) delta {
	rest := *after
	rest.Packages, rest.Books, rest.Segments, rest.Consumed, rest.Closed = nil, nil, nil, nil, nil
	rest.Gone, rest.Condemned, rest.CondemnedLists, rest.Dictionaries = nil, nil, nil, nil
	d := delta{Format: format, Log: before.position, Manifest: &rest, Changes: listChanges{
		Packages:       changesOf(before.Packages, after.Packages, func(p *Package) uint32 { return p.ID }, samePackage),
		Books:          changesOf(before.Books, after.Books, func(b *Book) string { return b.Key }, equal),
		Segments:       withoutParts(before.Segments, changesOf(before.Segments, after.Segments, func(s *Segment) string { return s.Key }, sameSegment)),
		Consumed:       changesOf(before.Consumed, after.Consumed, func(c *Consumed) layout.Version { return c.Batch }, sameConsumed),
		Closed:         changesOf(before.Closed, after.Closed, func(v *layout.Version) layout.Version { return *v }, equal),
		Gone:           changesOf(before.Gone, after.Gone, func(g *Gone) layout.Identity { return g.ID }, equal),
		Condemned:      changesOf(before.Condemned, after.Condemned, func(c *Condemned) string { return c.Key }, sameCondemned),
		CondemnedLists: changesOf(before.CondemnedLists, after.CondemnedLists, func(l *CondemnedList) string { return l.Key }, sameCondemnedList),
	}}
	if own := after.Dictionaries; own != nil {
		d.Changes.Dictionaries = &dictionariesDelta{own, changesOf(before.Dictionaries.list(), own.All, func(one *Dictionary) string { return one.Key }, sameDictionary)}
	}
	return d
}

// apply returns the generation that the delta describes, given the one before.
func (d *delta) apply(before *Manifest) (Manifest, error) {
	after := *d.Manifest
	var err error
	step := func(name string, apply func() error) {
		if err == nil {
			if err = apply(); err != nil {
				err = fmt.Errorf("its changes of %s are no changes of generation %d: %w", name, before.Generation, err)
			}
		}
	}
	step("packages", func() (err error) { after.Packages, err = applied(before.Packages, d.Changes.Packages); return err })
	step("books", func() (err error) { after.Books, err = applied(before.Books, d.Changes.Books); return err })
	step("segments", func() (err error) {
		after.Segments, err = applied(before.Segments, withParts(before.Segments, d.Changes.Segments))
		return err
	})
	step("consumed", func() (err error) { after.Consumed, err = applied(before.Consumed, d.Changes.Consumed); return err })
	step("closed", func() (err error) { after.Closed, err = applied(before.Closed, d.Changes.Closed); return err })
	step("gone", func() (err error) { after.Gone, err = applied(before.Gone, d.Changes.Gone); return err })
	step("condemned", func() (err error) { after.Condemned, err = applied(before.Condemned, d.Changes.Condemned); return err })
	step("lists of condemned", func() (err error) {
		after.CondemnedLists, err = applied(before.CondemnedLists, d.Changes.CondemnedLists)
		return err
	})
	after.Dictionaries = nil
	if own := d.Changes.Dictionaries; own != nil {
		after.Dictionaries = new(Dictionaries)
		if own.Dictionaries != nil {
			*after.Dictionaries = *own.Dictionaries
		}
		step("dictionaries", func() (err error) {
			after.Dictionaries.All, err = applied(before.Dictionaries.list(), own.All)
			return err
		})
	}
	return after, err
}

// Equal reports whether two generations have the same contents. They may come from different objects, such as a
// stored generation and the hint.
func Equal(a, b *Manifest) bool {
	same, errSame := json.Marshal(deltaOf(a, a))
	found, errFound := json.Marshal(deltaOf(a, b))
	return errSame == nil && errFound == nil && a.hash == b.hash && bytes.Equal(same, found)
}

// withoutParts makes changes shorter. A merged segment has many parts, and most changes of it only replace an
// overlay. So withoutParts sets the parts of a put segment to nil if the change drops a segment with the same key
// and the same parts. A segment that has lost its parts gets an empty list instead of nil, so that it differs from
// these.
func withoutParts(before []Segment, changes []change[Segment]) []change[Segment] {
	for i := range changes {
		c := &changes[i]
		for k := range c.Put {
			s := &c.Put[k]
			switch former := dropped(before, c, s.Key); {
			case former == nil || len(former.Parts) == 0:
			case len(s.Parts) == 0:
				s.Parts = []Part{}
			case slices.Equal(former.Parts, s.Parts):
				s.Parts = nil
			}
		}
	}
	return changes
}

// withParts is the inverse of withoutParts: it returns the changes with the parts of all segments.
func withParts(before []Segment, changes []change[Segment]) []change[Segment] {
	whole := slices.Clone(changes)
	for i := range whole {
		c := &whole[i]
		c.Put = slices.Clone(c.Put)
		for k := range c.Put {
			if s := &c.Put[k]; s.Parts == nil {
				if former := dropped(before, c, s.Key); former != nil {
					s.Parts = former.Parts
				}
			}
		}
	}
	return whole
}

// dropped returns the segment with the given key among those that a change drops; nil if there is
// none. The change may come from a damaged object.
func dropped(before []Segment, c *change[Segment], key string) *Segment {
	from := min(max(c.At, 0), len(before))
	to := min(from+max(c.Drop, 0), len(before))
	for i := from; i < to; i++ {
		if before[i].Key == key {
			return &before[i]
		}
	}
	return nil
}

func equal[T comparable](a, b *T) bool { return *a == *b }

// equalValues reports whether two pointers are both nil, or point to equal values.
func equalValues[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func samePackage(a, b *Package) bool {
	return a.ID == b.ID && a.Key == b.Key && a.Bytes == b.Bytes && a.Pages == b.Pages && a.Indexed == b.Indexed && equalValues(a.Apart, b.Apart) && slices.Equal(a.Formerly, b.Formerly)
}

func sameSegment(a, b *Segment) bool {
	return a.Key == b.Key && a.Bytes == b.Bytes && a.Tail == b.Tail && a.Documents == b.Documents && a.Erase == b.Erase && a.Compared == b.Compared &&
		equalValues(a.Deletions, b.Deletions) && equalValues(a.Ranks, b.Ranks) && equalValues(a.Anchors, b.Anchors) && slices.Equal(a.Parts, b.Parts)
}

func sameConsumed(a, b *Consumed) bool {
	return a.Batch == b.Batch && a.At.Equal(b.At) && a.Damaged == b.Damaged
}

func sameCondemned(a, b *Condemned) bool {
	return a.Key == b.Key && a.At.Equal(b.At) && a.Since == b.Since && a.Erase == b.Erase && a.Gone.Equal(b.Gone)
}

func sameCondemnedList(a, b *CondemnedList) bool {
	return a.Key == b.Key && a.Bytes == b.Bytes && a.Records == b.Records && a.At.Equal(b.At) && a.Since == b.Since && a.Erase == b.Erase && a.Gone.Equal(b.Gone)
}

func sameDictionary(a, b *Dictionary) bool {
	return a.From == b.From && a.To == b.To && a.Key == b.Key && a.Bytes == b.Bytes && a.Terms == b.Terms && a.Pages == b.Pages &&
		a.Sentences == b.Sentences && a.Rules == b.Rules && slices.Equal(a.Omitted, b.Omitted)
}
