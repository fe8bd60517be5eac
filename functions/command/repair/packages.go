package repair

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// patient is a package with which something is wrong.
type patient struct {
	manifest.Package
	erase  map[int64]bool // pages that stand in it twice, by their offsets
	broken map[int64]bool // pages that cannot be read
	gone   bool           // nothing of it is left
}

// lookAtPackage sorts the problems of a package. A page that an outcome names
// and that is not there, and a page that no outcome names, are fetched again:
// the Lost outcome accounts for both. A page that is there twice goes.
func (m *mending) lookAtPackage(problem verify.Problem) {
	listed := m.base().Package(problem.Key)
	if problem.URL != "" && (problem.Kind == verify.Missing || problem.Kind == verify.Unaccounted) {
		m.takeBack(problem.URL, "its page "+problem.Detail)
		return
	}
	if listed == nil {
		return
	}
	own, known := m.patients[listed.ID]
	if !known {
		own = &patient{Package: *listed, erase: make(map[int64]bool), broken: make(map[int64]bool)}
		m.patients[listed.ID] = own
	}
	if problem.Kind == verify.Double && problem.URL != "" {
		own.erase[problem.Offset] = true
	}
}

// mendPackage saves what can be read of a package.
func (m *mending) mendPackage(ctx context.Context, p *patient) error {
	content, found, err := m.get(ctx, p.Key)
	if err != nil {
		return err
	}
	var reader *webobject.Reader
	if found {
		reader, err = webobject.Open(content)
	}
	if !found || err != nil {
		return m.dropPackage(ctx, p, content, found)
	}
	pages, harmed := 0, false
	for entry, err := range reader.Objects() {
		if entry.URL != "" {
			pages++
		}
		if err != nil {
			harmed = true
			p.broken[entry.Offset] = entry.URL != ""
		}
	}
	left, erased, err := webobject.Erase(content, func(l webobject.Listed) bool { return p.broken[l.Offset] || p.erase[l.Offset] })
	if errors.Is(err, webobject.ErrDamaged) || err == nil && erased == pages && erased > 0 {
		return m.dropPackage(ctx, p, content, true)
	}
	if err != nil {
		return err
	}
	if harmed {
		if err := m.keep(ctx, p.Key, content); err != nil {
			return err
		}
	}
	if !harmed && erased == 0 {
		m.relistPackage(p, int64(len(content)), pages)
		return nil
	}
	return m.replacePackage(ctx, p, left, pages-erased)
}

// dropPackage takes a package off the list of which nothing can be saved. Its
// documents are dead from then on.
func (m *mending) dropPackage(ctx context.Context, p *patient, content []byte, found bool) error {
	if found {
		if err := m.remove(ctx, p.Key, content); err != nil {
			return err
		}
	}
	p.gone = true
	key := p.Key
	m.edits = append(m.edits, func(ctx context.Context, e *partition.Edit) error { return e.UnlistPackage(ctx, key) })
	m.said = append(m.said, fmt.Sprintf("%s is lost and off the list; its %d pages are fetched again", p.Key, p.Pages))
	return nil
}

// relistPackage lists a sound package once, as it is, and has it indexed again.
func (m *mending) relistPackage(p *patient, bytes int64, pages int) {
	id, sound := p.ID, manifest.Package{Key: p.Key, Bytes: bytes, Pages: pages}
	m.edit(func(e *partition.Edit) { e.RelistPackage(id, sound) })
	m.said = append(m.said, p.Key+" was listed wrongly, and is listed as it is; it is indexed again")
}

// replacePackage puts what is left of a package under a new name in its place.
// All pages that are left stand where they stood; its segments stay until it is
// indexed again.
func (m *mending) replacePackage(ctx context.Context, p *patient, left []byte, pages int) error {
	_, name, err := layout.ParsePackageKey(p.Key)
	if err != nil {
		return err
	}
	name.Collision++
	next, err := m.PutPackage(ctx, name, left, pages)
	if err != nil {
		return err
	}
	id, key := p.ID, p.Key
	m.edits = append(m.edits, func(_ context.Context, e *partition.Edit) error {
		err := e.ReplacePackage(key, next)
		if errors.Is(err, partition.ErrStale) && e.Manifest().Package(key) == nil { // it is off the list
			return nil
		}
		e.SetIndexed(id, false)
		return err
	})
	m.said = append(m.said, fmt.Sprintf("%s is replaced by %s, which keeps its %d sound pages", p.Key, next.Key, pages))
	return nil
}
