// Package forget removes from books all traces of URLs that a takedown forgets: their
// outcomes, links from and to them, and details of other outcomes that name one of them.
package forget

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Filter decides which outcomes and links are kept when forgotten URLs are erased from a book. It
// also decides this for ledgers, the lists of outcomes and links in spool objects, from which pack
// makes a book. Every page whose links are in the book or ledger must have an outcome there, too. A
// Filter is for one goroutine.
type Filter struct {
	set takedown.Set

	pages map[layout.Identity]bool // identities of the forgotten URLs whose outcomes See was called with
	// target is the target of the last link that was filtered, and targetForgotten says
	// whether it is forgotten. This saves work: in a book, links to one target are adjacent.
	target          string
	targetForgotten bool
}

// New returns a filter for one book. The caller must call the method See with all outcomes of the
// book before it calls Link.
func New(set takedown.Set) *Filter {
	return &Filter{set: set, pages: make(map[layout.Identity]bool)}
}

// See remembers the page of an outcome if its URL is forgotten, so that Link later drops the links
// of this page. Link cannot notice this alone: a link has only the identity of its source, which
// does not tell whether the source is on a forgotten site. See returns true if Outcome will keep
// the outcome unchanged.
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

// namesForgotten reports whether an outcome's detail is that of a redirect ("to URL") to a
// forgotten URL. If the detail has MaxDetail bytes, it may have been cut off, so that its URL
// cannot be checked: then the URL counts as forgotten.
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
