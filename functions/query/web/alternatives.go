package web

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
)

// alternatives are what a reader may try when nothing was found.
type alternatives struct {
	Fewer     []shorter     // the query without one of its words each
	Unlimited string        // address of the results without filters; "" if there are no filters
	Across    string        // address of the results in other languages; "" if queries cannot be translated
	About     *engine.About // what is searched; nil if this cannot be counted at present
}

// shorter is a query with one word less, and the address of its results.
type shorter struct{ Query, Address string }

// mostShorter is the greatest number of queries with one word less that are offered.
const mostShorter = 6

// newAlternatives returns what may be tried in place of a query that finds nothing.
func (s *siteHandler) newAlternatives(ctx context.Context, q engine.Query) *alternatives {
	none := alternatives{About: s.about(ctx)}
	words := wordsOf(q.Text)
	for i := range words {
		if len(words) < 2 || len(none.Fewer) == mostShorter {
			break
		}
		fewer := q
		fewer.Text = strings.Join(slices.Concat(words[:i], words[i+1:]), " ")
		none.Fewer = append(none.Fewer, shorter{fewer.Text, pageAddress(fewer, 0)})
	}
	if len(chipsOf(q)) > 0 {
		unlimited := engine.Query{Query: q.Query}
		for _, name := range filterNames {
			*filterOf(&unlimited, name) = nil
		}
		unlimited.After, unlimited.Before = time.Time{}, time.Time{}
		none.Unlimited = pageAddress(unlimited, 0)
	}
	if a := none.About; a != nil && len(q.Across.Into) == 0 && len(a.Across) > 0 {
		translated := q
		translated.Across.Into = a.Across[:min(len(a.Across), acrossOffered)]
		none.Across = pageAddress(translated, 0)
	}
	return &none
}

// acrossOffered is the greatest number of languages in the offer to translate the query.
const acrossOffered = 3

// wordsOf splits a query into words at its white space. White space between quotes does not split.
func wordsOf(text string) []string {
	quoted := false
	return strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return unicode.IsSpace(r) && !quoted
	})
}
