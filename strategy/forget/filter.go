// Package forget removes from books and ledgers all traces of URLs that a takedown forgets: their outcomes, and
// the links from and to them. It also empties the field Detail of another URL's outcome if Detail
// names a forgotten URL.
package forget

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Filter decides which outcomes and links are kept when forgotten URLs are erased from a ledger (the list
// of outcomes and links in a spool object). A link contains only a hash of its source page's URL. Filter
// learns the URL from the page's outcome, so this outcome must be in the same ledger as the link. A Filter
// is for one goroutine.
type Filter struct {
	set takedown.Set

	pages map[layout.Identity]bool // identities of those forgotten URLs for which See was called
	// target is the target of the last link that was filtered, and targetForgotten says
	// whether it is forgotten. This saves work: links to one target are often adjacent.
	target          string
	targetForgotten bool
}

// New returns a filter for one ledger, or several. The caller must call the method See with all of their
// outcomes before it calls Link.
func New(set takedown.Set) *Filter {
	return &Filter{set: set, pages: make(map[layout.Identity]bool)}
}

// See records the identity of an outcome's URL if that URL is forgotten, so that Link can later drop
// the links on this page. A link contains only the identity (a hash) of its source page, which does
// not show whether the page is on a forgotten site. See returns true if the method Outcome will keep
// the outcome and change nothing in it.
func (f *Filter) See(o book.Outcome) bool {
	if !f.set.ForgetsURL(o.URL) {
		return !f.namesForgotten(o.Detail)
	}
	f.pages[o.Identity()] = true
	return false
}

// Outcome reports whether to keep an outcome. It deletes the outcome's Detail if the Detail names a
// forgotten URL.
func (f *Filter) Outcome(o *book.Outcome) bool {
	if f.set.ForgetsURL(o.URL) {
		return false
	}
	if f.namesForgotten(o.Detail) {
		o.Detail = ""
	}
	return true
}

// namesForgotten reports whether an outcome's detail names a forgotten URL. Only the detail of a
// redirect or alias names a URL: it is "to " and the URL. A detail of MaxDetail bytes may have been cut
// off, so that its URL cannot be checked. Then the URL counts as forgotten.
func (f *Filter) namesForgotten(detail string) bool {
	to, found := strings.CutPrefix(detail, "to ")
	return found && (len(detail) >= book.MaxDetail || f.set.ForgetsURL(to))
}

// Link reports whether to keep a link: neither its target nor its source is forgotten.
func (f *Filter) Link(l *book.Link) bool {
	if f.pages[l.Source] || f.set.ForgetsID(l.Source) {
		return false
	}
	if l.Target != f.target {
		f.target, f.targetForgotten = l.Target, f.set.ForgetsURL(l.Target)
	}
	return !f.targetForgotten
}
