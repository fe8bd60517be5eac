package analysis

import "strings"

// outsideMark is the last byte of the terms that Outside returns. No other term contains
// it. In sorted order, such a term directly follows the same term without it.
const outsideMark = "\x01"

// Outside returns the term for a word that a page has only outside of its main part: in a margin, a
// table of contents or a footer. Such a page is indexed under this term instead of the word's usual
// one, the parameter term.
func Outside(term string) string { return term + outsideMark }

// IsOutside reports whether a term was made by Outside, that is, for a word outside of a
// page's main part.
func IsOutside(term string) bool { return strings.HasSuffix(term, outsideMark) }
