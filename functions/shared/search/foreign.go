package search

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// foreign is a factor for the score of a word in a document. It applies if the document has a term of
// the word, but the rules of the document's language do not give this term for the word. Such a match
// is mostly chance. Example: Spanish rules reduce configurando to configur. English documents have this
// term from configure and configuration, although English rules leave configurando unchanged.
const foreign = 0.3

// documentRules holds the rules of analysis, such as the stemmer of a language, by which the
// documents of a part were analysed. It is nil if all documents were analysed by the same rules.
type documentRules struct {
	languages *segment.StringColumn
	// for each set of languages that a document may have, the rules of these languages as a bit set: bit r
	// stands for plan.rules[r]. The bit set of a document is sets[languages.Of[doc]].
	sets []uint64
}

// worth returns a factor for the score that a word gets by one of its terms in the document doc. The
// factor is 1 if the rules of the document's language give this term for the word. Else it is the
// constant foreign. The parameter rules is the bit set of all rules of analysis that give this term for
// the word (see variant.rules).
func (r *documentRules) worth(rules uint64, doc uint32) float64 {
	if r == nil || rules&r.sets[r.languages.Of[doc]] != 0 {
		return 1
	}
	return foreign
}

// readRules sets the rules by which the documents of a part were analysed. It takes the languages
// of the documents from the cache, or reads them.
func (s *search) readRules(ctx context.Context, part int) error {
	from := s.parts[part]
	if from.Unvisited {
		return nil // a document without a page has anchors in any language
	}
	column, err := s.memory.column(ctx, from.Segment, segment.Languages)
	if err != nil {
		return err
	}
	r := &documentRules{languages: column, sets: make([]uint64, len(column.Sets))}
	for i, set := range column.Sets {
		for _, l := range s.plan.languages {
			for _, n := range set {
				if column.Values[n] == l.name {
					r.sets[i] |= 1 << l.rules
				}
			}
		}
	}
	s.rules[part] = r
	return nil
}
