package segment

import (
	"net/url"
	"path"
	"strings"
	"unicode"
)

// Image is an image on a page, with the texts by which searches find it.
type Image struct {
	URL     string
	Alt     string // alternative text of the image
	Caption string
	Around  string // heading above the image, and words before and after it
}

// imageMark ends the terms of images. So in a segment the term "cat" of an image comes
// after the term "cat" of the text.
const imageMark = "\x02"

// ImageTerm marks a term as coming from the texts of an image, such as the caption. A search for
// images finds the page by the marked term. Other searches do not look for marked terms, and the
// length of a field does not count them.
func ImageTerm(term string) string { return term + imageMark }

// CutImageTerm returns the term without the mark that ImageTerm added, and whether the term had
// this mark.
func CutImageTerm(term string) (string, bool) { return strings.CutSuffix(term, imageMark) }

// NameWords returns the words of the image's file name, separated by spaces:
// "main window 2" for https://a.example/img/mainWindow_2.png.
func (i *Image) NameWords() string {
	address, _, _ := strings.Cut(i.URL, "?")
	_, address, _ = strings.Cut(address, "://")
	_, address, _ = strings.Cut(address, "/")
	name := path.Base("/" + address)
	if plain, err := url.PathUnescape(name); err == nil {
		name = strings.ToValidUTF8(plain, "")
	}
	if extension := path.Ext(name); len(extension) <= len(".jpeg") {
		name = strings.TrimSuffix(name, extension)
	}
	var words strings.Builder
	last := ' '
	for _, r := range name {
		kept := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		begins := unicode.IsUpper(r) && unicode.IsLower(last) || kept && unicode.IsDigit(r) != unicode.IsDigit(last)
		if !kept {
			r = ' '
		}
		if last != ' ' && (r == ' ' || begins) {
			words.WriteByte(' ')
		}
		if r != ' ' {
			words.WriteRune(r)
		}
		last = r
	}
	return strings.TrimSpace(words.String())
}
