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

	pages map[layout.Identity]bool // forgotten pages, also those of forgotten sites
	// The result for the last target: links to one target are adjacent in a book.
	target          string
	targetForgotten bool
}

// New returns a filter for one book. Call See with all its outcomes first.
func New(set takedown.Set) *Filter {
	return &Filter{set: set, pages: make(map[layout.Identity]bool)}
}

// See must be called with all outcomes before Link is called: links name their
// source by its identity, which a takedown of a whole site does not contain. It
// returns whether the outcome is kept unchanged.
func (f *Filter) See(o book.Outcome) bool {
	if !f.set.ForgetsURL(o.URL) {
		return !f.namesForgotten(o.Detail)
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
	if f.namesForgotten(o.Detail) {
		o.Detail = ""
	}
	return true
}

// namesForgotten reports whether the detail of a redirect names a forgotten URL, or may name
// one because it was cut.
func (f *Filter) namesForgotten(detail string) bool {
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
		f.target, f.targetForgotten = l.Target, f.set.ForgetsURL(l.Target)
	}
	return !f.targetForgotten
}
