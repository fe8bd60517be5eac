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

// Members are the collections in force, with the strategies, takedowns and choices
// that decide which URLs they may have. After Prepare they never change, and are
// safe for concurrent use.
type Members struct {
	Crawl       rules.Document
	Storage     rules.Document
	Collections []collection.Collection
	Takedowns   takedown.Set
	Only        *control.Only // the collections that are crawled for now; nil: all

	byName map[string]member
	chosen map[string]*collection.Admission // see choose
}

// member is a collection with its parsed rules.
type member struct {
	*collection.Collection
	collection.Admission
	timetable collection.Timetable
	rank      int
}

// Prepare parses the rules of the collections, and must be called first. It fails on
// the first invalid one.
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

// Clean removes those parameters from the target of a link that the collection drops.
func (s *Members) Clean(name string, target address.Address) address.Address {
	return s.byName[name].Clean(target)
}

// SeedOf returns the collections that have the address as a seed.
func (s *Members) SeedOf(page address.Address) []string {
	return s.those(func(m member) bool { return m.IsSeed(page) })
}

// AskAgain reports whether an admitted URL that failed with this outcome is asked
// for again.
func (s *Members) AskAgain(name string, failed book.Outcome) bool {
	return failed.Time.Before(s.Collection(name).Again)
}

// those returns the names of some collections, in the order of Collections.
func (s *Members) those(wanted func(member) bool) (names []string) {
	for i := range s.Collections {
		if name := s.Collections[i].Name; wanted(s.byName[name]) {
			names = append(names, name)
		}
	}
	return names
}
