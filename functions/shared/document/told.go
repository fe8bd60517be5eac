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

// contents holds, by schema.org type of an object, the keys whose values are content of the page:
// "articleBody" of an Article, not its "dateModified".
var contents = map[string][]string{
	"Product": {"name", "description", "category", "color", "material"}, "ProductGroup": {"name", "description"}, "Brand": {"name"}, "Offer": {"price", "priceCurrency"},
	"PropertyValue": {"name", "value"},
	"Question":      {"name", "text"}, "Answer": {"text"}, "DiscussionForumPosting": {"headline", "text", "articleBody"}, "Comment": {"text"},
	"Article": {"headline", "articleBody"}, "NewsArticle": {"headline", "articleBody"}, "BlogPosting": {"headline", "articleBody"}, "TechArticle": {"headline", "articleBody"},
	"Recipe": {"name", "description", "recipeIngredient", "recipeInstructions"}, "HowToStep": {"name", "text"}, "HowTo": {"name", "description"},
	"Event": {"name", "description", "startDate"}, "Place": {"name"}, "JobPosting": {"title", "description"}, "Course": {"name", "description"},
	"SoftwareApplication": {"name", "description"}, "Book": {"name", "description"}, "Movie": {"name", "description"},
}

// fewTold is the least number of phrases in the longest text of an object of JSON-LD. With fewer,
// it is not clear whether the page shows the object, and the method told ignores it.
const fewTold = 8

// unshown are paragraphs of content that a page has in JSON-LD but does not show.
type unshown []string

// exceeds reports whether these paragraphs have more text than the main part. If so, the page
// shows its content only by scripts.
func (u unshown) exceeds(main passage) bool {
	size := 0
	for _, paragraph := range u {
		size += len(paragraph)
	}
	return size > len(main.text)
}

// blocks returns a Block for each paragraph. In Content.Body the paragraphs come after the main
// part. The parameter main is the size of the main part in bytes, and size that of Body. A
// paragraph beyond size was cut off: its Block has a hash only.
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

// told returns content that the page has in its JSON-LD but does not show, as paragraphs. Content
// is in objects of the types in the variable contents; of nested objects, only the outermost
// counts. An object counts as not shown if less than half of the phrases of its longest text are on
// the page.
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
		if in, all := shown.Share([]byte(o.longest)); all < fewTold || 2*in >= all {
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
// the given object and those around it; -1 if there is none. It also returns -1 if the given object
// is a part of a review or of a list of other pages.
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

// plainOf returns a text of JSON-LD without markup.
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
