package segment

import "strings"

// nameMark marks terms for the names of sites: such a term is a word of the name, followed by
// nameMark and imageMark (see NameTerm).
const nameMark = "\x03"

// NameTerm marks a term as a word of a site's name. A search for the name finds the
// site's start page by the marked term. The term is also marked as one of an image
// (see ImageTerm). So the length of a field does not include it, and older programs,
// which do not know names, never find it.
func NameTerm(term string) string { return ImageTerm(term + nameMark) }

// IsNameTerm reports whether NameTerm made a term.
func IsNameTerm(term string) bool { return strings.HasSuffix(term, ImageTerm(nameMark)) }
