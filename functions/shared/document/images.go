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
	MaxImages     = 1000 // greatest number of images outside of navigation that are read from a page
	maxFigure     = 6    // number of an image's nearest ancestors among which captionOf looks for a figure
	maxImageTexts = 300  // greatest size of an alternative text, and of a caption, in bytes
)

// isShown reports whether a reference is an image that the page shows outside of navigation.
func (d *Document) isShown(r *hypertext.Reference) bool {
	e := &d.page.Elements[r.Element]
	return e.Name == atom.Img && e.Flags&(hypertext.Hidden|hypertext.Navigation|hypertext.NoScript) == 0
}

// omittedImages returns how many images are beyond MaxImages, and how many there are in all. Only
// images that the page shows outside of navigation count.
func (d *Document) omittedImages() (omitted, all int) {
	for i := range d.page.References {
		if d.isShown(&d.page.References[i]) {
			all++
		}
	}
	return max(0, all-MaxImages), all
}

// Images returns the images in and next to the main part of a page, in document order, each
// address once. It leaves out an image that has no alternative text, no caption and no telling
// file name. base is the address of the page, and c its content.
func (d *Document) Images(base address.Address, c Content) []segment.Image {
	if d.page == nil || d.converted || len(c.Main) == 0 {
		return nil
	}
	r := d.resolver(base, 0)
	headings, elements := d.headings()
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
		for heading < len(elements) && d.page.Elements[elements[heading]].Start <= reference.Start {
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

// captionOf returns the text of the figure around an image. If several figures are around it, the
// innermost one that has text counts. A figure is a figure element, or an element whose class names a
// figure or a caption.
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

// wordsAround returns the words before and after a reference, such as an image: whole words, at
// most MaxAround bytes on each side. On each side it goes no further than to the next block outside
// of the main part. The parameter main says for each block whether it is in the main part. The
// parameter next is the index of the first block that begins at or after the reference.
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

// vague are words in names of image files that say nothing about the image: words such as "photo",
// and names of pieces of a layout, such as "spacer".
var vague = strings.Fields("image images img pic pics picture pictures photo photos icon icons spacer blank pixel clear transparent " +
	"empty dot bullet arrow line shadow border corner background left right top bottom next prev previous home thumb thumbnail dsc " +
	"dscn file untitled tmp default")

// isTelling reports whether a word of a file's name describes the image. These do not: numbers,
// codes of hexadecimal digits, very short words, and the words in the variable vague.
func isTelling(word string) bool {
	if slices.Contains(vague, word) || !hasLetter(word) {
		return false
	}
	if strings.ContainsFunc(word, func(r rune) bool { return r >= 0x80 }) {
		return true
	}
	return len(word) > 2 && strings.Trim(word, "0123456789abcdef") != ""
}
