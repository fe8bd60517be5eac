// Package segments is shared by the functions that write the index of a partition:
// it builds segments, finds documents of given URLs in them, and decides which
// segments are merged.
package segments

import (
	"iter"
	"net/url"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// headingGap is how many positions lie between two headings, so that no phrase
// begins in one and ends in the next.
const headingGap = 100

// Page is a document that is to be indexed.
type Page struct {
	segment.Document
	Emphasis, Large []layout.Span // spans of the body that are emphasized or large, in order
	Outside         string        // text outside of the main part, which is the body
	// Silent pages are no text. Their documents have no words and are never
	// found, but supersede earlier versions as all documents do.
	Silent bool
}

// Build returns the bytes of a segment of the pages. The same pages and program
// give the same bytes.
func Build(pages []*Page) ([]byte, error) {
	versions := make(map[string]uint32)
	for _, p := range pages {
		versions[p.Lang] = analysis.Version(p.Lang)
	}
	b := segment.NewBuilder(versions)
	analyzers := make(map[string]*analysis.Analyzer)
	for _, p := range pages {
		a := analyzers[p.Lang]
		if a == nil {
			a = analysis.For(p.Lang)
			analyzers[p.Lang] = a
		}
		if err := b.Add(&p.Document, Tokens(p, a)); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}

// Tokens yields the tokens of all fields of a page, found by the analyzer of its
// language.
func Tokens(p *Page, a *analysis.Analyzer) iter.Seq[segment.Token] {
	return func(yield func(segment.Token) bool) {
		if p.Silent {
			return
		}
		t := tokenizer{analyzer: a, yield: yield, more: true}
		if p.Outside != "" {
			t.seen = make(map[string]bool)
		}
		t.text(segment.Title, 0, p.Title)
		base := 0
		for _, heading := range p.Headings {
			base += t.text(segment.Headings, base, heading) + headingGap
		}
		t.nameless = true // an address does not show how words are written
		t.text(segment.Address, 0, addressWords(p.URL))
		t.nameless = false
		t.emphasis, t.large = p.Emphasis, p.Large
		base = t.text(segment.Body, 0, p.Body) + headingGap
		t.emphasis, t.large, t.outside = nil, nil, true
		t.text(segment.Body, base, p.Outside)
	}
}

// tokenizer makes tokens of occurrences.
type tokenizer struct {
	analyzer        *analysis.Analyzer
	yield           func(segment.Token) bool
	more            bool            // tokens are wanted
	nameless        bool            // words do not count for spelling
	outside         bool            // the text is outside of the main part
	seen            map[string]bool // terms so far; nil if the page has no text outside
	emphasis, large []layout.Span
}

// text yields the tokens of a text, whose positions in its field begin at base,
// and returns its length in positions.
func (t *tokenizer) text(field, base int, text string) (length int) {
	if !t.more {
		return 0
	}
	return t.analyzer.Each(text, func(o analysis.Occurrence) bool {
		token := segment.Token{Field: field, Term: o.Term, Word: o.Word, Position: uint32(base + o.Position)}
		switch {
		case t.outside && t.seen[o.Term]:
			return t.more
		case t.outside:
			token.Term = analysis.Outside(o.Term)
		case t.seen != nil:
			t.seen[o.Term] = true
		}
		if t.nameless {
			token.Word = ""
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
		return t.more
	})
}

// inRanges reports whether an offset is in one of the sorted ranges, and drops the
// ranges before it.
func inRanges(ranges *[]layout.Span, at int) bool {
	for len(*ranges) > 0 && (*ranges)[0].End <= at {
		*ranges = (*ranges)[1:]
	}
	return len(*ranges) > 0 && (*ranges)[0].Start <= at
}

// addressWords returns a URL without its scheme and its percent-encoding.
func addressWords(address string) string {
	if _, rest, found := strings.Cut(address, "://"); found {
		address = rest
	}
	if plain, err := url.PathUnescape(address); err == nil {
		return plain
	}
	return address
}
