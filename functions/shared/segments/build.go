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
	Emphasis, Large []layout.Span // ranges of Body that are emphasized, and ranges in larger type; both ascending
	Outside         string        // text outside of the main part; the main part is in Body
	SiteNames       []string      // names of the site, if this is its start page
	// Silent is true for a page that searches must not find, such as one with noindex. The page is
	// indexed as a document without words, which replaces its earlier versions in searches.
	Silent bool
}

// Build returns the bytes of a segment that indexes the pages. It sets their names. With the same version of the
// program, the same pages give the same bytes.
func Build(pages []*Page) ([]byte, error) {
	versions := make(map[string]uint32)
	for _, p := range pages {
		versions[p.Lang] = analysis.Version(p.Lang)
	}
	setNames(pages)
	b := segment.NewBuilder(versions)
	t, a := newTokenizer(), newAhead()
	for _, p := range pages {
		if err := b.Add(&p.Document, a.of(t.tokens(p))); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}
