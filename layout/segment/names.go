package segment

import "strings"

// nameMark ends the terms of names, before the mark of images.
const nameMark = "\x03"

// NameTerm returns the term under which the start page of a site has a word of the site's names.
// It has the form of a term of an image, so that it counts in no length, and that programs which
// do not know it take it for one that nobody searches.
func NameTerm(term string) string { return ImageTerm(term + nameMark) }

// IsNameTerm reports whether NameTerm made a term.
func IsNameTerm(term string) bool { return strings.HasSuffix(term, ImageTerm(nameMark)) }
