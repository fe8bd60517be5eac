package search

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// maxLinked is the greatest number of filters link: in a query. Each of them costs reads in the books, which are
// outside of the segments.
const maxLinked = 4

// Linking is a function that finds the pages with links to a target. The target is the value of a filter link:,
// such as https://example.org/a. The results are
//
//	sources   identities of the pages; nil if the target cannot be parsed, so that the filter is ignored
//	notes     sentences for the person who searches, about what was cut or left out
//
// Linking may be called several times for a target, and by several goroutines at the same time.
type Linking func(ctx context.Context, target string) (sources map[layout.Identity]bool, notes []string, err error)

// linked is a filter link: of a query.
type linked struct {
	target   string
	excluded bool                     // whether the filter has a -: pages that link to the target must not match
	sources  map[layout.Identity]bool // pages that link to the target; set by findLinks
}

// addLink adds a filter link: of the query's text.
func (f *filter) addLink(c clause) {
	l := linked{target: c.text, excluded: c.sign == '-'}
	same := slices.ContainsFunc(f.links, func(other *linked) bool { return other.target == l.target && other.excluded == l.excluded })
	switch {
	case same:
	case len(f.links) == maxLinked:
		f.note("Only the first %d filters link: of the query were used.", maxLinked)
	default:
		f.links = append(f.links, &l)
	}
}

// findLinks finds, for each filter link:, the pages with links to its target. If a filter must be ignored,
// findLinks removes it, and adds a note to the result.
func (s *search) findLinks(ctx deadline) error {
	if len(s.plan.filter.links) == 0 {
		return nil
	}
	var kept []*linked
	for _, l := range s.plan.filter.links {
		if s.query.Linking == nil {
			s.plan.notes = append(s.plan.notes, fmt.Sprintf("link:%s was ignored: links are not known here.", l.target))
			continue
		}
		sources, notes, err := s.query.Linking(ctx.read, l.target)
		if err != nil && ctx.passed(ctx.read) && errors.Is(err, context.DeadlineExceeded) {
			s.result.Partial = true
			sources, err = map[layout.Identity]bool{}, nil
		}
		if err != nil {
			return err
		}
		s.plan.notes = append(s.plan.notes, notes...)
		if sources == nil {
			continue
		}
		l.sources = sources
		kept = append(kept, l)
	}
	s.plan.filter.links = kept
	s.plan.setLists(s.query)
	return nil
}

// keepLinking removes those documents from the possible matches that the filters link: do not accept. It needs the
// identities of all documents, which must have been read before.
func (s *search) keepLinking() {
	for part, ids := range s.identities {
		s.accept[part].keep(s.parts[part].Segment.Documents())
		for doc, id := range ids {
			if slices.ContainsFunc(s.plan.filter.links, func(l *linked) bool { return l.sources[id] == l.excluded }) {
				s.accept[part].allowed.clear(uint32(doc))
			}
		}
	}
}
