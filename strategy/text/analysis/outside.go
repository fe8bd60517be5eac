package analysis

import "strings"

// outsideMark is the end of the terms that Outside returns. No other term contains it,
// and in the order of terms such a term follows the one without it directly.
const outsideMark = "\x01"

// Outside returns a second term for the same word. A page is indexed under it if the word
// stands only outside of the page's main part: in a margin, a table of contents, a
// footer. Else the page is indexed under term; never under both.
func Outside(term string) string { return term + outsideMark }

// IsOutside reports whether a term was made by Outside, that is, for a word outside of a
// page's main part.
func IsOutside(term string) bool { return strings.HasSuffix(term, outsideMark) }
