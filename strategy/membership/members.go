package membership

import (
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Members holds the collections in force and all documents that decide which URLs belong to
// them: strategies, takedowns, and the collections to which the crawl is limited for now.
// After Prepare it never changes, and is safe for concurrent use.
type Members struct {
	Crawl       rules.Document
	Storage     rules.Document
	Collections []collection.Collection
	Takedowns   takedown.Set
	Only        *control.Only // the only collections and seeds that are crawled for now; nil: all

	byName map[string]member
	// chosen holds, for each collection that Only names, the Admission of those of its seeds that
	// Only names; nil if Only names the whole collection.
	chosen map[string]*collection.Admission
}

// member is a collection with its parsed rules.
type member struct {
	*collection.Collection
	collection.Admission
	timetable collection.Timetable
	rank      int
}

// Prepare parses the seeds, patterns and schedules of the collections. It must be called
// before any other method, and fails on the first invalid collection.
func (s *Members) Prepare() error {
	s.byName = make(map[string]member, len(s.Collections))
	for i := range s.Collections {
		c := &s.Collections[i]
		admission, errRules := c.Rules()
		timetable, err := c.Schedule.Parse()
		if err = errors.Join(errRules, err); err != nil {
			return fmt.Errorf("collection %s version %d: %w", c.Name, c.Version, err)
		}
		m := member{Collection: c, Admission: admission, timetable: timetable}
		m.rank = rankOf(m)
		s.byName[c.Name] = m
	}
	return s.choose()
}

// Collection returns the collection with the name, or the zero Collection, which
// admits nothing.
func (s *Members) Collection(name string) collection.Collection {
	if m, found := s.byName[name]; found {
		return *m.Collection
	}
	return collection.Collection{Name: name}
}

// Clean returns the target of a link without the parameters that the collection with the name drops
// (see address.Cleaner).
func (s *Members) Clean(name string, target address.Address) address.Address {
	return s.byName[name].Clean(target)
}

// StartDirectory returns the directory at which the collection with the name starts on the host of a
// page (see collection.Admission.StartDirectory), "" if the collection has no seed there.
func (s *Members) StartDirectory(name string, page address.Address) string {
	return s.byName[name].StartDirectory(page)
}

// SeedOf returns the names of the collections that have the address as a seed.
func (s *Members) SeedOf(page address.Address) []string {
	return s.those(func(m member) bool { return m.IsSeed(page) })
}

// AskAgain reports whether a URL that failed with this outcome is requested again now. That is so
// if it failed before the time in the field Again of the collection with the name.
func (s *Members) AskAgain(name string, failed book.Outcome) bool {
	return failed.Time.Before(s.Collection(name).Again)
}

// those returns the names of the collections for which wanted returns true, in the order
// of Collections.
func (s *Members) those(wanted func(member) bool) (names []string) {
	for i := range s.Collections {
		if name := s.Collections[i].Name; wanted(s.byName[name]) {
			names = append(names, name)
		}
	}
	return names
}
