package analysis

import "strings"

// outsideMark ends the terms of words that stand only outside of a page's main part.
// No other term has it, and it sorts a term right behind the one without it.
const outsideMark = "\x01"

// Outside returns the term under which a page has a word that stands only outside of
// its main part: in a margin, a table of contents, a footer. A page has a word under
// one of the two terms.
func Outside(term string) string { return term + outsideMark }

// IsOutside reports whether a term was made by Outside.
func IsOutside(term string) bool { return strings.HasSuffix(term, outsideMark) }
