package search

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// aloneDefined is the factor for a name that stands alone where a page defines it, such as print. A name that is
// the last part of a longer one, such as dumps in json.dumps, does not get the factor (see
// segment.DefinitionTerm).
const aloneDefined = 1.5

// defined returns the bonus of a document that defines names which the query has. Example: a page of a manual that
// describes the function print, if the query has the word print. The bonus is
//
//	Weights.Defined · D · (D/A)²
//
//	D   sum, over those words of the query that the page defines as names, of
//	    the weight of the word (of a joined word such as literal_eval, the weights of its parts)
//	    times the worth of the variant (term of the word) that is the name
//	    times aloneDefined if the name stands alone in its definition
//	A   sum of the weights of all words of the query; D/A is at most 1
//
// Without the bonus, a short page that only mentions a name would come before the long page that describes it
// together with a hundred other names.
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
