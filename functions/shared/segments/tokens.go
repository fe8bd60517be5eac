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
	numbered   []numbered                    // data that the tokenizer keeps for a term, by the number of the term
	unnumbered map[string]bool               // terms of the current page's main part that have no number

	// These fields are the state of the current page:

	page            uint32 // number of the page, from 1
	analyzer        *analysis.Analyzer
	yield           func(segment.Token) bool
	more            bool // false once the caller of the iterator tokens wants no more of them
	wordless        bool // true: tokens get no Word, which serves to correct spelling
	isOutside       bool // the current text is outside of the main part
	isOfImage       bool // the current text is that of an image
	emphasis, large []layout.Span
}

// numbered is the data that a tokenizer holds for a term that has a number.
type numbered struct {
	page          uint32 // number of the last page that has the term in its main part
	outside       string // analysis.Outside of the term; "" if not computed yet
	outsideNumber uint32 // number of the term that the field outside holds
	image         string // segment.ImageTerm of the term; "" if not computed yet
	imageNumber   uint32 // number of the term that the field image holds
}

func newTokenizer() *tokenizer {
	return &tokenizer{vocabulary: analysis.NewVocabulary(), analyzers: make(map[string]*analysis.Analyzer), unnumbered: make(map[string]bool)}
}

// tokens yields the tokens of all fields of a page and of its images, which the analyzer of the
// page's language finds.
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
		for i := range p.Images {
			image := &p.Images[i]
			for _, text := range [...]string{image.Alt, image.Caption, image.NameWords(), image.Around} {
				base += t.text(segment.Body, base, text) + headingGap
			}
		}
		t.wordless = false
	}
}

// names yields a term for each word in the names of a site, for the site's start page: the words of
// its host, of its directory and of SiteNames. All these terms have the given position in the field
// Address.
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
// position is the position of o plus the parameter base. It yields no token for
//
//   - a joined word (such as e-mail) in an address, because the parts of an address are searched
//     one by one;
//   - a term outside of the main part, if the title, headings, address or main part of the page
//     have the term, too;
//   - a term of an image that would be longer than segment.MaxTerm with its mark.
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

// see records that the current page has the term of the occurrence in its title, headings, address
// or main part.
func (t *tokenizer) see(o *analysis.Occurrence) {
	if o.TermNumber == 0 {
		t.unnumbered[o.Term] = true
	} else {
		t.of(o.TermNumber).page = t.page
	}
}

// saw reports whether see was called on the current page for the term of the occurrence.
func (t *tokenizer) saw(o *analysis.Occurrence) bool {
	if o.TermNumber == 0 {
		return t.unnumbered[o.Term]
	}
	return t.of(o.TermNumber).page == t.page
}

// outside returns the term that is indexed for an occurrence outside of the main part
// (analysis.Outside), and its number in the vocabulary, 0 if it has none.
func (t *tokenizer) outside(o *analysis.Occurrence) (term string, number uint32) {
	if o.TermNumber == 0 {
		return analysis.Outside(o.Term), 0
	}
	n := t.of(o.TermNumber)
	if n.outside == "" {
		n.outside = analysis.Outside(o.Term)
		n.outsideNumber = t.vocabulary.Number(n.outside)
	}
	return n.outside, n.outsideNumber
}

// ofImage returns the term that is indexed for an occurrence in a text of an image
// (segment.ImageTerm), and its number in the vocabulary, 0 if it has none.
func (t *tokenizer) ofImage(o *analysis.Occurrence) (term string, number uint32) {
	if o.TermNumber == 0 {
		return segment.ImageTerm(o.Term), 0
	}
	n := t.of(o.TermNumber)
	if n.image == "" {
		n.image = segment.ImageTerm(o.Term)
		n.imageNumber = t.vocabulary.Number(n.image)
	}
	return n.image, n.imageNumber
}

func (t *tokenizer) of(number uint32) *numbered {
	if more := int(number) + 1 - len(t.numbered); more > 0 {
		t.numbered = append(t.numbered, make([]numbered, more)...)
	}
	return &t.numbered[number]
}

// inRanges reports whether an offset is in one of the ranges, which are in the order of the text.
// It removes the ranges that end before the offset, so offsets must ascend from call to call.
func inRanges(ranges *[]layout.Span, at int) bool {
	for len(*ranges) > 0 && (*ranges)[0].End <= at {
		*ranges = (*ranges)[1:]
	}
	return len(*ranges) > 0 && (*ranges)[0].Start <= at
}

// addressWords returns a URL without its scheme and its percent-encoding. For a name without
// "://", whose words say nothing about its document, it returns "".
func addressWords(name string) string {
	_, address, _ := strings.Cut(name, "://")
	if plain, err := url.PathUnescape(address); err == nil {
		return plain
	}
	return address
}
