package segment

import "strings"

// nameMark stands in the term of a word of a site's name: behind the word, and before
// imageMark (see NameTerm).
const nameMark = "\x03"

// NameTerm returns the term by which a search finds the start page of a site, from a word of
// the site's names. The term has the form of a term of an image (see ImageTerm). So the length
// of a field does not include it, and older programs, which do not know names, never find it.
func NameTerm(term string) string { return ImageTerm(term + nameMark) }

// IsNameTerm reports whether NameTerm made a term.
func IsNameTerm(term string) bool { return strings.HasSuffix(term, ImageTerm(nameMark)) }
