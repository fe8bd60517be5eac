// Package forget takes what is forgotten out of what was learnt: outcomes,
// links, and words that name a URL.
package forget

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Filter says what is kept of one book, or of the ledgers that one pack makes
// a book of. Either holds an outcome of every page whose links it holds, since
// a batch learns both. It is for one goroutine.
type Filter struct {
	set takedown.Set

	pages  map[layout.Identity]bool // that are forgotten with their site
	target string                   // the last that was judged; links to one follow each other in a book
	judged bool
}

// New returns a filter that has seen nothing.
func New(set takedown.Set) *Filter {
	return &Filter{set: set, pages: make(map[layout.Identity]bool)}
}

// See must be shown all outcomes before the first link is judged: the takedown
// of a site names none of its pages, by which links name their source. It
// returns whether the outcome is kept as it is.
func (f *Filter) See(o book.Outcome) bool {
	if !f.set.ForgetsURL(o.URL) {
		return !f.tells(o.Detail)
	}
	f.pages[o.Identity()] = true
	return false
}

// Outcome returns whether an outcome is kept, without its detail if that names
// what is forgotten.
func (f *Filter) Outcome(o *book.Outcome) bool {
	if f.set.ForgetsURL(o.URL) {
		return false
	}
	if f.tells(o.Detail) {
		o.Detail = ""
	}
	return true
}

// tells reports whether the detail of a redirect names a forgotten URL, or may
// name one, having been cut.
func (f *Filter) tells(detail string) bool {
	to, found := strings.CutPrefix(detail, "to ")
	return found && (len(detail) >= book.MaxDetail || f.set.ForgetsURL(to))
}

// Link returns whether a link is kept: neither is its target forgotten nor the
// page that it was found on.
func (f *Filter) Link(l *book.Link) bool {
	if f.pages[l.Source] || f.set.ForgetsID(l.Source) {
		return false
	}
	if l.Target != f.target {
		f.target, f.judged = l.Target, f.set.ForgetsURL(l.Target)
	}
	return !f.judged
}
