package search

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// aloneDefined is the factor of a name that a page defines alone, such as print, and not as a part of a longer
// name, such as print_exception of traceback (see segment.DefinitionTerm).
const aloneDefined = 1.5

// defined returns the bonus of a document that defines names of the query, such as the page of a manual that
// describes a function with this name:
//
//	Weights.Defined · D · (D/A)²
//
//	D   sum of the weights of those words of the query that are names which the page defines, each times
//	    the worth of the variant that is the name, and times aloneDefined if the page defines it alone. A joined
//	    word such as literal_eval has the weights of its parts.
//	A   sum of the weights of all words of the query; D/A is at most 1
//
// Without the bonus, a short page that only mentions the name comes before the long page that describes it
// among a hundred others.
func (s *scan) defined(doc uint32) float64 {
	s.worths = slices.Grow(s.worths[:0], len(s.words))[:len(s.words)]
	clear(s.worths)
	for i := range s.words {
		c := &s.words[i]
		if c.doc != doc {
			continue
		}
		worth := 0.0
		for k := range c.lists {
			if l := &c.lists[k]; l.kind == ofDefinition && l.doc == doc {
				factor := 1.0
				if freq, _, _ := l.it.Payload(); freq[segment.Headings] > 0 {
					factor = aloneDefined
				}
				worth = max(worth, factor*l.weight)
			}
		}
		if w := s.plan.words[i]; !w.joined {
			s.worths[i] = max(s.worths[i], worth)
		} else {
			for _, part := range w.parts {
				if part.place >= 0 {
					s.worths[part.place] = max(s.worths[part.place], worth)
				}
			}
		}
	}
	sum := 0.0
	for i, worth := range s.worths {
		sum += worth * s.plan.words[i].weight
	}
	if sum == 0 {
		return 0
	}
	share := min(1, sum/s.plan.weight())
	return s.plan.weights.Defined * sum * share * share
}
