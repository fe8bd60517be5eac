package segment

import "strings"

// nameMark stands in the term of a word of a site's name: behind the word, and before
// imageMark (see NameTerm).
const nameMark = "\x03"

// NameTerm returns the term under which the start page of a site has a word of the site's
// names. It has the form of a term of an image, for two reasons: the length of a field does
// not count such terms; and programs that do not know names take it for a term of an image,
// which no query of theirs contains.
func NameTerm(term string) string { return ImageTerm(term + nameMark) }

// IsNameTerm reports whether NameTerm made a term.
func IsNameTerm(term string) bool { return strings.HasSuffix(term, ImageTerm(nameMark)) }
