package segment

import "strings"

// nameMark marks terms that come from the name of a site. Such a term is a word of the name,
// followed by nameMark and imageMark (see NameTerm).
const nameMark = "\x03"

// NameTerm appends two marks to a word of a site's name. The index of the site's start page
// contains the marked term, so that a search for the name finds this page. The first mark
// distinguishes the term from the same word in the text. The second mark is that of image terms
// (see ImageTerm), which do not count in the length of a field. Programs that are older than the
// first mark therefore take the term for one of an image.
func NameTerm(term string) string { return ImageTerm(term + nameMark) }

// IsNameTerm reports whether a term has the marks that NameTerm adds.
func IsNameTerm(term string) bool { return strings.HasSuffix(term, ImageTerm(nameMark)) }
