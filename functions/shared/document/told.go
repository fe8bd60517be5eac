package document

import (
	"bytes"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/linkeddata"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/phrases"
)

// contents holds, for each type of schema.org, the keys under which an object of this type has
// content of the page. An Article, for example, has content under "articleBody", but not under
// "dateModified".
var contents = map[string][]string{
	"Product": {"name", "description", "category", "color", "material"}, "ProductGroup": {"name", "description"}, "Brand": {"name"}, "Offer": {"price", "priceCurrency"},
	"PropertyValue": {"name", "value"},
	"Question":      {"name", "text"}, "Answer": {"text"}, "DiscussionForumPosting": {"headline", "text", "articleBody"}, "Comment": {"text"},
	"Article": {"headline", "articleBody"}, "NewsArticle": {"headline", "articleBody"}, "BlogPosting": {"headline", "articleBody"}, "TechArticle": {"headline", "articleBody"},
	"Recipe": {"name", "description", "recipeIngredient", "recipeInstructions"}, "HowToStep": {"name", "text"}, "HowTo": {"name", "description"},
	"Event": {"name", "description", "startDate"}, "Place": {"name"}, "JobPosting": {"title", "description"}, "Course": {"name", "description"},
	"SoftwareApplication": {"name", "description"}, "Book": {"name", "description"}, "Movie": {"name", "description"},
}

// The method told looks for the phrases (runs of three words) of an object's longest text on the page,
// to find out whether the page shows the object. What it needs depends on their number:
//
//	8 or more   the object is not shown if less than half of the phrases are on the page
//	2 to 7      the object is not shown if none of them is on the page
//	fewer       the text is too short to tell, and the object is ignored
const (
	manyTold = 8
	fewTold  = 2
)

// unshown are paragraphs of content that a page has in JSON-LD but does not show.
type unshown []string

// exceeds reports whether these paragraphs have more text than the main part that was found in the
// markup. If so, the page shows its content only by scripts, and the paragraphs are appended to the
// main part.
func (u unshown) exceeds(main passage) bool {
	size := 0
	for _, paragraph := range u {
		size += len(paragraph)
	}
	return size > len(main.text)
}

// blocks returns a Block for each paragraph. In Content.Body, the paragraphs follow the main part
// that the page shows, and each Block has the range of its paragraph there. The parameter main is
// the size in bytes of that main part, and size is the size of the whole Body. If Body was cut off
// before a paragraph, its Block has a hash, but no range.
func (u unshown) blocks(main, size int) (all []Block) {
	at := main + min(main, 1) // after a line feed
	for _, paragraph := range u {
		b := Block{Hash: fingerprint.Exact(0, []byte(paragraph))}
		if at < size {
			b.Start, b.End = int32(at), int32(min(at+len(paragraph), size))
		}
		all = append(all, b)
		at += len(paragraph) + 1
	}
	return all
}

// told returns, as paragraphs, content that the page has in its JSON-LD (structured data for
// programs) but does not show. The variable contents lists the types of objects that have content.
// An object and all objects inside of it are judged together, by their longest text (see fewTold).
func (d *Document) told() (paragraphs unshown) {
	type object struct {
		paragraphs []string
		longest    string
	}
	objects := make(map[int32]*object)
	var order []int32
	for _, v := range d.data.Values {
		if !slices.Contains(contents[d.data.Objects[v.Object].Type], v.Key) {
			continue
		}
		outermost := outermostContent(d.data, v.Object)
		if outermost < 0 {
			continue
		}
		text := plainOf(v.Text)
		if text == "" {
			continue
		}
		o := objects[outermost]
		if o == nil {
			o = &object{}
			objects[outermost] = o
			order = append(order, outermost)
		}
		o.paragraphs = append(o.paragraphs, text)
		if len(text) > len(o.longest) {
			o.longest = text
		}
	}
	if len(order) == 0 {
		return nil
	}
	shown := phrases.Of(d.page.Text)
	seen := make(map[string]bool)
	for _, number := range order {
		o := objects[number]
		if in, all := shown.Share([]byte(o.longest)); all < fewTold || 2*in >= all || in > 0 && all < manyTold {
			continue
		}
		for _, p := range o.paragraphs {
			if !seen[p] {
				seen[p] = true
				paragraphs = append(paragraphs, p)
			}
		}
	}
	return paragraphs
}

// outermostContent returns the index of the outermost object that has content (see contents), among
// the given object and the objects around it. It returns -1 if none of them has content, or if one
// of them is a review, a list of items or a related product.
func outermostContent(data *linkeddata.Data, object int32) int32 {
	outermost := int32(-1)
	for ; object >= 0; object = data.Objects[object].Parent {
		switch o := &data.Objects[object]; {
		case o.Type == "Review", o.Type == "ItemList", o.Key == "isRelatedTo", o.Key == "isSimilarTo":
			return -1
		case contents[o.Type] != nil:
			outermost = object
		}
	}
	return outermost
}

// plainOf returns a text that a page has in its JSON-LD, with all HTML markup removed.
func plainOf(text []byte) string {
	if bytes.ContainsAny(text, "<&") {
		text = hypertext.Read(text).Text
	}
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	for i := range lines {
		lines[i] = joinWords(lines[i])
	}
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n")
}
