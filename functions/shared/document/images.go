package document

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Limits on the images that the index keeps.
const (
	MaxImages     = 1000 // greatest number of images of a page that are read, outside of navigation
	maxFigure     = 6    // greatest number of elements around an image that are searched for its figure
	maxImageTexts = 300  // greatest size of an alternative text, and of a caption, in bytes
)

// isShown reports whether a reference is an image that the page shows outside of navigation.
func (d *Document) isShown(r *hypertext.Reference) bool {
	e := &d.page.Elements[r.Element]
	return e.Name == atom.Img && e.Flags&(hypertext.Hidden|hypertext.Navigation|hypertext.NoScript) == 0
}

// omittedImages returns the number of images that a page shows outside of navigation, and how many
// of these are beyond MaxImages.
func (d *Document) omittedImages() (omitted, all int) {
	for i := range d.page.References {
		if d.isShown(&d.page.References[i]) {
			all++
		}
	}
	return max(0, all-MaxImages), all
}

// Images returns the images in and next to the main part of a page at the address base, in
// document order, each address once. An image is left out if it has neither an alternative
// text nor a caption nor a telling file name. c is the content of the page.
func (d *Document) Images(base address.Address, c Content) []segment.Image {
	if d.page == nil || d.converted || len(c.Main) == 0 {
		return nil
	}
	r := d.resolver(base, 0)
	headings, starts := d.headings()
	var images []segment.Image
	taken := make(map[string]bool)
	block, heading, looked := 0, 0, 0
	for i := range d.page.References {
		reference := &d.page.References[i]
		if !d.isShown(reference) {
			continue
		}
		if looked++; looked > MaxImages {
			break
		}
		for block < len(c.Main) && d.page.Blocks[block].Start < reference.Start {
			block++
		}
		if next := block < len(c.Main) && c.Main[block]; !next && (block == 0 || !c.Main[block-1]) {
			continue
		}
		target, ok := r.resolve(reference.Address)
		if !ok || taken[target.URL] {
			continue
		}
		image := segment.Image{URL: target.URL, Alt: cut(joinWords(reference.Alt), maxImageTexts), Caption: d.captionOf(reference)}
		if !isTold(&image) {
			continue
		}
		for heading < len(starts) && starts[heading] <= reference.Start {
			heading++
		}
		if heading > 0 {
			image.Around = headings[heading-1] + "\n"
		}
		image.Around += d.wordsAround(reference, c.Main, block)
		taken[target.URL] = true
		images = append(images, image)
	}
	return images
}

// captionOf returns the text of the figure around an image: of the innermost one that has text. A
// figure is a figure element, or an element whose class names a figure or a caption.
func (d *Document) captionOf(r *hypertext.Reference) string {
	at := d.page.Elements[r.Element].Parent
	for range maxFigure {
		if at <= 0 {
			break
		}
		e := &d.page.Elements[at]
		if e.Name == atom.Figure || e.Own&hypertext.WordCaption != 0 {
			if caption := d.label(e.Start, e.End, maxImageTexts); caption != "" {
				return caption
			}
		}
		at = e.Parent
	}
	return ""
}

// wordsAround returns the words before and after a reference, such as an image: at most MaxAround
// bytes on each side, in whole words. The words are from the nearest blocks of the main part; on
// each side wordsAround stops at the first block that is not in the main part. main says for each
// block whether it is in the main part. next is the index of the first block that begins at or
// after the reference.
func (d *Document) wordsAround(r *hypertext.Reference, main []bool, next int) string {
	blocks, from, to := d.page.Blocks, r.Start, r.End
	for i := next - 1; i >= 0 && main[i] && from > r.Start-MaxAround; i-- {
		from, to = min(from, blocks[i].Start), max(to, blocks[i].End)
	}
	for i := next; i < len(main) && main[i] && to < r.End+MaxAround; i++ {
		to = max(to, blocks[i].End)
	}
	before, after := string(d.page.Text[max(from, r.Start-MaxAround):r.Start]), string(d.page.Text[r.End:min(to, r.End+MaxAround)])
	if r.Start-MaxAround > from {
		if i := strings.IndexFunc(before, unicode.IsSpace); i >= 0 {
			before = before[i:]
		}
	}
	if r.End+MaxAround < to {
		if i := strings.LastIndexFunc(after, unicode.IsSpace); i >= 0 {
			after = after[:i]
		}
	}
	return joinWords(strings.ToValidUTF8(before+" "+after, ""))
}

// isTold reports whether an image has words by which it can be found: an alternative text, a
// caption, or a file name that describes the image.
func isTold(i *segment.Image) bool {
	if hasLetter(i.Alt) || hasLetter(i.Caption) {
		return true
	}
	for word := range strings.FieldsSeq(i.NameWords()) {
		if isTelling(strings.ToLower(word)) {
			return true
		}
	}
	return false
}

func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// vague are words in names of files that do not describe an image, such as "photo", or that name a
// piece of a layout, such as "spacer".
var vague = strings.Fields("image images img pic pics picture pictures photo photos icon icons spacer blank pixel clear transparent " +
	"empty dot bullet arrow line shadow border corner background left right top bottom next prev previous home thumb thumbnail dsc " +
	"dscn file untitled tmp default")

// isTelling reports whether a word of a file's name describes the image. It does not if it is a
// number, a code of hexadecimal digits, one of the words in vague, or very short.
func isTelling(word string) bool {
	if slices.Contains(vague, word) || !hasLetter(word) {
		return false
	}
	if strings.ContainsFunc(word, func(r rune) bool { return r >= 0x80 }) {
		return true
	}
	return len(word) > 2 && strings.Trim(word, "0123456789abcdef") != ""
}
