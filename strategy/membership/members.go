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

// Members are the collections in force, with what else decides of which URLs
// they may have pages. They are not changed once they are prepared, and then
// safe for concurrent use.
type Members struct {
	Crawl       rules.Document
	Storage     rules.Document
	Collections []collection.Collection
	Takedowns   takedown.Set
	Only        *control.Only // what is crawled for now; nil: everything

	byName map[string]member
	chosen map[string]*collection.Admission // see choose
}

// member is a collection as decisions need it.
type member struct {
	*collection.Collection
	collection.Admission
	timetable collection.Timetable
	rank      int
}

// Prepare parses the rules of the collections; until then, none is known by its
// name. It fails on the first that says what cannot be.
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

// Collection returns the collection with the name; the zero Collection admits
// nothing.
func (s *Members) Collection(name string) collection.Collection {
	if m, found := s.byName[name]; found {
		return *m.Collection
	}
	return collection.Collection{Name: name}
}

// Clean returns the address that is crawled on behalf of the collection in place
// of the target of a link: without the parameters that the collection drops.
func (s *Members) Clean(name string, target address.Address) address.Address {
	return s.byName[name].Clean(target)
}

// SeedOf returns the collections of which an address is a seed.
func (s *Members) SeedOf(page address.Address) []string {
	return s.those(func(m member) bool { return m.IsSeed(page) })
}

// AskAgain reports whether a URL that the collection admits, and that failed
// with the outcome, is to be asked for again.
func (s *Members) AskAgain(name string, failed book.Outcome) bool {
	return failed.Time.Before(s.Collection(name).Again)
}

// those returns the names of some, in the order of the collections.
func (s *Members) those(wanted func(member) bool) (names []string) {
	for i := range s.Collections {
		if name := s.Collections[i].Name; wanted(s.byName[name]) {
			names = append(names, name)
		}
	}
	return names
}
