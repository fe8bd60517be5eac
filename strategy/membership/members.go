package membership

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	Only        *control.Only // collections and seeds to which the crawl is limited for now; nil: no limit

	byName map[string]member
	// chosen is made from Only. Its keys are the names of the collections in Only. If Only lists some
	// seeds of a collection, the value is the Admission (scopes and patterns) of these seeds; if it
	// lists the whole collection, the value is nil.
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
// before any other method. Its error is that of the first invalid collection.
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

// Collection returns the collection with the name. If there is none, it returns a collection that has
// only this name, and admits nothing.
func (s *Members) Collection(name string) collection.Collection {
	if m, found := s.byName[name]; found {
		return *m.Collection
	}
	return collection.Collection{Name: name}
}

// CheckName returns an error that names all collections if there is none with the given name. It returns
// nil for the name "", which stands for all collections.
func (s *Members) CheckName(name string) error {
	if _, found := s.byName[name]; found || name == "" {
		return nil
	}
	return fmt.Errorf("no collection %q; there are: %s", name, strings.Join(slices.Sorted(maps.Keys(s.byName)), ", "))
}

// Clean returns the target of a link without the parameters that the named collection drops (see
// address.Cleaner).
func (s *Members) Clean(name string, target address.Address) address.Address {
	return s.byName[name].Clean(target)
}

// StartDirectory returns the directory at which the named collection starts on the host of a page
// (see collection.Admission.StartDirectory). It returns "" if the collection has no seed on the host.
func (s *Members) StartDirectory(name string, page address.Address) string {
	return s.byName[name].StartDirectory(page)
}

// SeedOf returns the names of the collections that have the address as a seed.
func (s *Members) SeedOf(page address.Address) []string {
	return s.those(func(m member) bool { return m.IsSeed(page) })
}

// AskAgain reports whether a URL that failed with this outcome is requested again now: it failed
// before the time in the field Again of the named collection.
func (s *Members) AskAgain(name string, failed book.Outcome) bool {
	return failed.Time.Before(s.Collection(name).Again)
}

// those returns the names of the collections for which the given function returns true, in the
// order of Collections.
func (s *Members) those(wanted func(member) bool) (names []string) {
	for i := range s.Collections {
		if name := s.Collections[i].Name; wanted(s.byName[name]) {
			names = append(names, name)
		}
	}
	return names
}
