package analysis

import "strings"

// outsideMark is the byte that Outside appends to the term of a word, if a page has this word only
// outside of its main part. Usual terms do not contain this byte. In a sorted list of terms, the
// marked term directly follows the usual one.
const outsideMark = "\x01"

// Outside returns another term for a word, given the word's usual term. A page that has the word only
// outside of its main part is indexed under this other term instead of the usual one. Margins,
// tables of contents and footers are outside of the main part.
func Outside(term string) string { return term + outsideMark }

// IsOutside reports whether a term was made by Outside, that is, for a word outside of a
// page's main part.
func IsOutside(term string) bool { return strings.HasSuffix(term, outsideMark) }
