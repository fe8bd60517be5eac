package segments

import (
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// headingGap is the number of positions between two texts of a field, such as two headings, so
// that no phrase begins in one and ends in the next.
const headingGap = 100

// tokenizer turns the texts of pages into the tokens that a segment indexes.
type tokenizer struct {
	vocabulary *analysis.Vocabulary
	analyzers  map[string]*analysis.Analyzer // analyzers by language, each made once
	// for each term, by its number in the vocabulary: the number of the last page that has the term in
	// its title, headings, address or main part
	pages    []uint32
	outsides []form // form of each term for texts outside of the main part (analysis.Outside), by the term's number
	images   []form // form of each term for texts of images (segment.ImageTerm), by the term's number
	// terms in the title, headings, address or main part of the current page, but only those without a
	// number in the vocabulary
	unnumbered map[string]bool

	// These fields are the state of the current page:

	page            uint32 // number of the current page, from 1
	analyzer        *analysis.Analyzer
	yield           func(segment.Token) bool
	more            bool // false once the caller wants no more tokens
	wordless        bool // whether Token.Word is left empty, so that fox* and foks~ do not find the tokens
	isOutside       bool // whether the current text is outside of the page's main part
	isOfImage       bool // whether the current text is that of an image
	emphasis, large []layout.Span
}

// form is another form of a term, such as the one for texts outside of the main part. The field number is its
// number in the vocabulary; 0 if the vocabulary lacks it.
type form struct {
	term   string // "" if not computed yet
	number uint32
}

func newTokenizer() *tokenizer {
	return &tokenizer{vocabulary: analysis.NewVocabulary(), analyzers: make(map[string]*analysis.Analyzer), unnumbered: make(map[string]bool)}
}

// tokens yields the tokens that the analyzer of the page's language finds in all fields of the page
// and in the texts of its images. It yields none if the page is Silent.
func (t *tokenizer) tokens(p *Page) iter.Seq[segment.Token] {
	return func(yield func(segment.Token) bool) {
		if p.Silent {
			return
		}
		if t.analyzer = t.analyzers[p.Lang]; t.analyzer == nil {
			t.analyzer = t.vocabulary.For(p.Lang)
			t.analyzers[p.Lang] = t.analyzer
		}
		t.page, t.yield, t.more, t.isOutside, t.isOfImage = t.page+1, yield, true, false, false
		clear(t.unnumbered)
		t.text(segment.Title, 0, p.Title)
		base := 0
		for _, heading := range p.Headings {
			base += t.text(segment.Headings, base, heading) + headingGap
		}
		definitions := t.definitions(p)
		t.define(definitions, segment.Headings, base)
		t.wordless = true // an address does not show how words are written
		base = t.text(segment.Address, 0, addressWords(p.URL)) + headingGap
		if len(p.SiteNames) > 0 {
			t.names(p, base)
		}
		t.wordless = false
		t.emphasis, t.large = p.Emphasis, p.Large
		base = t.text(segment.Body, 0, p.Body) + headingGap
		t.emphasis, t.large, t.isOutside = nil, nil, true
		base += t.text(segment.Body, base, p.Outside) + headingGap
		t.isOutside, t.isOfImage, t.wordless = false, true, true
		base = t.define(definitions, segment.Body, base)
		for i := range p.Images {
			image := &p.Images[i]
			for _, text := range [...]string{image.Alt, image.Caption, image.NameWords(), image.Around} {
				base += t.text(segment.Body, base, text) + headingGap
			}
		}
		t.wordless = false
	}
}

// names yields terms for the names of a site, so that a query with such a name finds the site's start
// page p. The names are the words of p.SiteNames, and those of p's URL up to the last slash. All terms
// get the given position in the field Address.
func (t *tokenizer) names(p *Page, position int) {
	words := addressWords(p.URL)
	seen := make(map[string]bool)
	for _, text := range slices.Concat([]string{words[:strings.LastIndexByte(words, '/')+1]}, p.SiteNames) {
		t.analyzer.Each(text, func(o analysis.Occurrence) bool {
			if term := segment.NameTerm(o.Term); t.more && !seen[term] && len(term) <= segment.MaxTerm {
				seen[term] = true
				t.more = t.yield(segment.Token{Field: segment.Address, Term: term, Position: uint32(position)})
			}
			return t.more
		})
	}
}

// text yields the tokens of a text in a field, and returns the number of positions that the text
// takes. The parameter base is the position of the beginning of the text.
func (t *tokenizer) text(field, base int, text string) (length int) {
	if !t.more {
		return 0
	}
	return t.analyzer.Each(text, func(o analysis.Occurrence) bool {
		if t.occurrence(field, base, &o); t.more && o.First != "" {
			o.Term, o.TermNumber, o.End = o.First, o.FirstNumber, o.Half
			t.occurrence(field, base, &o)
		}
		return t.more
	})
}

// occurrence yields a token for the occurrence o of a term in a text of a field. The token's
// position is the position of o plus the parameter base. It yields no token in three cases:
//
//   - The term is a joined word (such as e-mail) in an address. The parts of an address are searched
//     one by one.
//   - The text is outside of the page's main part, and the title, headings, address or main part of
//     the page have the term, too.
//   - The text is that of an image, and the term is too long for the index: with the mark that
//     segment.ImageTerm adds, it is longer than segment.MaxTerm.
func (t *tokenizer) occurrence(field, base int, o *analysis.Occurrence) {
	token := segment.Token{
		Field: field, Term: o.Term, Word: o.Word, Position: uint32(base + o.Position),
		TermNumber: o.TermNumber, WordNumber: o.WordNumber,
	}
	switch {
	case field == segment.Address && o.Parts > 0: // the parts of an address are searched one by one
		return
	case t.isOfImage:
		if token.Term, token.TermNumber = t.ofImage(o); len(token.Term) > segment.MaxTerm {
			return
		}
	case !t.isOutside:
		t.see(o)
	case t.saw(o):
		return
	default:
		token.Term, token.TermNumber = t.outside(o)
	}
	if t.wordless {
		token.Word, token.WordNumber = "", 0
	}
	if o.Capitals {
		token.Hits |= postings.Capitals
	}
	if inRanges(&t.emphasis, o.Start) {
		token.Hits |= postings.Emphasis
	}
	if inRanges(&t.large, o.Start) {
		token.Hits |= postings.Large
	}
	t.more = t.yield(token)
}

// see records that the current page has the occurrence's term in its title, headings, address or
// main part.
func (t *tokenizer) see(o *analysis.Occurrence) {
	if o.TermNumber == 0 {
		t.unnumbered[o.Term] = true
	} else {
		*entry(&t.pages, o.TermNumber) = t.page
	}
}

// saw reports whether the method see has recorded the occurrence's term for the current page.
func (t *tokenizer) saw(o *analysis.Occurrence) bool {
	if o.TermNumber == 0 {
		return t.unnumbered[o.Term]
	}
	return *entry(&t.pages, o.TermNumber) == t.page
}

// outside returns the form of a term that is indexed for an occurrence outside of the page's main
// part (analysis.Outside), and the number of this form in the vocabulary, 0 if it has none.
func (t *tokenizer) outside(o *analysis.Occurrence) (term string, number uint32) {
	if o.TermNumber == 0 {
		return analysis.Outside(o.Term), 0
	}
	f := entry(&t.outsides, o.TermNumber)
	if f.term == "" {
		f.term = analysis.Outside(o.Term)
		f.number = t.vocabulary.Number(f.term)
	}
	return f.term, f.number
}

// ofImage returns the term that is indexed for an occurrence in one of an image's texts, such as its
// caption (see segment.ImageTerm), and the number of this term in the vocabulary, 0 if it has none.
func (t *tokenizer) ofImage(o *analysis.Occurrence) (term string, number uint32) {
	if o.TermNumber == 0 {
		return segment.ImageTerm(o.Term), 0
	}
	f := entry(&t.images, o.TermNumber)
	if f.term == "" {
		f.term = segment.ImageTerm(o.Term)
		f.number = t.vocabulary.Number(f.term)
	}
	return f.term, f.number
}

// entry returns the element of a slice with the given index. It lengthens the slice if it has no such
// element yet.
func entry[T any](of *[]T, index uint32) *T {
	if more := int(index) + 1 - len(*of); more > 0 {
		*of = append(*of, make([]T, more)...)
	}
	return &(*of)[index]
}

// inRanges reports whether an offset is in one of the ranges, which are in the order of the text.
// It removes the ranges that end before the offset, so offsets must ascend from call to call.
func inRanges(ranges *[]layout.Span, at int) bool {
	for len(*ranges) > 0 && (*ranges)[0].End <= at {
		*ranges = (*ranges)[1:]
	}
	return len(*ranges) > 0 && (*ranges)[0].Start <= at
}

// addressWords returns the text of a URL whose words are indexed: the URL without its scheme, with its
// percent-encoding decoded. If the name of a document is no URL (it lacks "://"), addressWords returns "",
// because the words of such a name say nothing about the document.
func addressWords(name string) string {
	_, address, _ := strings.Cut(name, "://")
	if plain, err := url.PathUnescape(address); err == nil {
		return plain
	}
	return address
}
