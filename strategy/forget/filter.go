// Package forget removes forgotten outcomes and links, and texts that name
// forgotten URLs.
package forget

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Filter selects what is kept of one book, or of the ledgers that one pack makes
// into a book. Both have an outcome for every page whose links they have, because
// a batch records both together. It is for one goroutine.
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

// See must be called with all outcomes before Link is called: links name their
// source by its identity, which a takedown of a whole site does not contain. It
// returns whether the outcome is kept unchanged.
func (f *Filter) See(o book.Outcome) bool {
	if !f.set.ForgetsURL(o.URL) {
		return !f.tells(o.Detail)
	}
	f.pages[o.Identity()] = true
	return false
}

// Outcome returns whether an outcome is kept. It removes a detail that names a
// forgotten URL.
func (f *Filter) Outcome(o *book.Outcome) bool {
	if f.set.ForgetsURL(o.URL) {
		return false
	}
	if f.tells(o.Detail) {
		o.Detail = ""
	}
	return true
}

// tells reports whether the detail of a redirect names a forgotten URL, or may name
// one because it was cut.
func (f *Filter) tells(detail string) bool {
	to, found := strings.CutPrefix(detail, "to ")
	return found && (len(detail) >= book.MaxDetail || f.set.ForgetsURL(to))
}

// Link returns whether a link is kept: neither its target nor its source is
// forgotten.
func (f *Filter) Link(l *book.Link) bool {
	if f.pages[l.Source] || f.set.ForgetsID(l.Source) {
		return false
	}
	if l.Target != f.target {
		f.target, f.judged = l.Target, f.set.ForgetsURL(l.Target)
	}
	return !f.judged
}
