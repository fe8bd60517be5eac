package segment

import "strings"

const (
	// nameMark marks terms that come from the name of a site. Such a term is a word of the name,
	// followed by nameMark and imageMark (see NameTerm).
	nameMark = "\x03"
	// definitionMark marks terms of names that a page defines (see DefinitionTerm).
	definitionMark = "\x04"
)

// NameTerm appends two marks to a word of a site's name. The index of the site's start page
// contains the marked term, so that a search for the name finds this page. The first mark
// distinguishes the term from the same word in the text. The second mark is that of image terms
// (see ImageTerm), which do not count in the length of a field. Programs that are older than the
// first mark therefore take the term for one of an image.
func NameTerm(term string) string { return ImageTerm(term + nameMark) }

// DefinitionTerm returns the term under which a page that defines a name is indexed. It is the term of the name,
// such as that of a function in a manual, with two marks added. They are those of NameTerm, but for the first one.
// The field of the marked term is Headings if the name stands alone, such as print, and Body if it is the last
// part of a longer one, such as dumps in json.dumps.
func DefinitionTerm(term string) string { return ImageTerm(term + definitionMark) }

// IsNameTerm reports whether a term has the marks that NameTerm or DefinitionTerm adds.
func IsNameTerm(term string) bool {
	return strings.HasSuffix(term, ImageTerm(nameMark)) || strings.HasSuffix(term, ImageTerm(definitionMark))
}
