// Package segments has the code that several functions need to write the index of a
// partition: it builds segments, finds the documents of given URLs in them, and decides
// which segments are merged.
package segments

import (
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// Page is a page that is to be indexed, as a document of a segment.
type Page struct {
	segment.Document
	Emphasis, Large []layout.Span // ranges of Body in emphasis, and in larger type, in the order of Body
	Outside         string        // text outside of the main part; the main part is in Body
	SiteNames       []string      // names of the site, if this is its start page
	// Silent is true for a page that no search must find, such as one with noindex. Its document has
	// no words, but supersedes the page's earlier versions.
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
	t, a := newTokenizer(), newAhead()
	for _, p := range pages {
		if err := b.Add(&p.Document, a.of(t.tokens(p))); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}
