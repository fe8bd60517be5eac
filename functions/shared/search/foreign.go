package search

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// foreign is the factor of a word's score by a term that the rules of the document's own language do
// not give for the word: Configurando is configur by the rules of Spanish, and so are the English
// words configure and configuration, but by those of English it stays configurando. Such a match is
// mostly chance.
const foreign = 0.3

// documentRules tells by which rules of analysis the documents of a part were analysed. A nil
// documentRules stands for documents that were all analysed by the same rules.
type documentRules struct {
	languages *segment.StringColumn
	sets      []uint64 // for each set of languages: bit set of the indexes of their rules in plan.rules
}

// worth returns the factor of a word's score by a term in a document, given the bit set of the rules
// that give the term for the word (see variant.rules).
func (r *documentRules) worth(rules uint64, doc uint32) float64 {
	if r == nil || rules&r.sets[r.languages.Of[doc]] != 0 {
		return 1
	}
	return foreign
}

// readRules sets the rules of a part's documents, from the cache or by reading their languages.
func (s *search) readRules(ctx context.Context, part int) (err error) {
	from, memory := s.parts[part], s.ix.memory
	if from.Unvisited {
		return nil // a document without a page has anchors in any language
	}
	key := from.Segment.Ref().Key
	column := memory.languages(key)
	if column == nil {
		if column, err = from.Segment.Strings(ctx, segment.Languages); err != nil {
			return err
		}
		memory.putLanguages(key, column)
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
