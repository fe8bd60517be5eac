package export

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// mirror is a target that is a folder for a browser, with a file for each page and asset
// (see names) and index.html, which leads to the seeds. Addresses in pages and style sheets
// are replaced:
//
//	address of                                    becomes
//	an exported page or asset                     the relative path of its file
//	an alias of one, such as a redirect to it     the relative path of the same file
//	anything else                                 an absolute URL
//
// All other bytes are those that the server sent; document.Rewrite lists the exceptions.
type mirror struct {
	root     string
	settings *settings.Settings
	seeds    []string
	// paths of the pages' files in the mirror, by identity of the URL; not changed after prepare
	names map[layout.Identity]string
	// Targets of aliases, such as redirects. A key is the identity (hash) of an alias's URL. Its value
	// begins with the identity of the target's URL. A collection may drop query parameters, such as a
	// session number, from that URL. Then the value also has the identity of the shorter URL.
	aliases map[layout.Identity][]layout.Identity
}

// prepare decides the names of all files before any is written, because a name depends on the
// page's media type and on the names of other files. It reads media types from the index. Those of
// assets, and of pages that are not indexed yet, it reads from the packages.
func (m *mirror) prepare(ctx context.Context, t *Task, pages *storedPages, s *settings.Settings) error {
	m.settings, m.aliases = s, make(map[layout.Identity][]layout.Identity)
	for alias, err := range pages.all.Aliases(ctx) {
		if err != nil {
			return err
		}
		m.aliases[alias.ID] = alias.To
	}
	named, err := t.names(ctx, pages)
	if err != nil {
		return fmt.Errorf("cannot name the files of the mirror: %w", err)
	}
	m.names = named.assign()
	for _, c := range s.Collections {
		if t.Collection != "" && c.Name != t.Collection {
			continue
		}
		for _, seed := range c.Seeds {
			m.seeds = append(m.seeds, seed.URL)
		}
	}
	return nil
}

func (t *Task) names(ctx context.Context, pages *storedPages) (named names, err error) {
	if t.Lang == "" { // with a language, findPages has read the index
		if err := pages.all.ReadIndex(ctx); err != nil {
			return named, err
		}
	}
	known := make(map[layout.Identity]bool)
	for page, err := range pages.all.Pages(ctx, t.Selection) {
		if err != nil {
			return named, err
		}
		if page.Indexed {
			named.add(page.URL, page.MIME)
			known[page.Identity()] = true
		}
	}
	others := *pages
	others.places = slices.DeleteFunc(slices.Clone(pages.places), func(p place) bool { return known[p.id] })
	for found := range others.read(ctx, 0) {
		o, err := found.object(ctx)
		switch {
		case errors.Is(err, webobject.ErrDamaged), errors.Is(err, blob.ErrAbsent): // copy reports it
		case err != nil:
			return named, err
		default:
			named.add(o.URL, o.MIME)
		}
	}
	return named, nil
}

func (m *mirror) begin(time.Time, int64) error { return os.MkdirAll(m.root, 0o755) }

func (m *mirror) content(r *Record) ([]byte, error) {
	name, found := m.names[layout.IdentityOf(r.URL)]
	if !found {
		return nil, fmt.Errorf("%s has no file in the mirror, since it could not be read before: begin anew in another folder", r.URL)
	}
	at, err := address.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	from := mirrored{mirror: m, name: name, page: at, base: at, collections: r.Collections}
	return document.Rewrite(r.object.Data, r.object.MIME, from.replace), nil
}

func (m *mirror) write(r *Record, content []byte) error {
	to := filepath.Join(m.root, filepath.FromSlash(m.names[layout.IdentityOf(r.URL)]))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

func (m *mirror) save() (int64, error) { return 0, nil }

// find returns the name of the mirror's file for an address to which a page refers. A collection may
// drop query parameters from URLs, such as a session number. So find tries the address as it is, and
// without the parameters that the collections of that page drop; the parameter collections has their
// names. If the address is an alias of an exported page, such as a redirect to it, find returns the
// file of the exported page. The result found is false if the mirror has no file for the address.
func (m *mirror) find(to address.Address, collections []string) (name string, found bool) {
	ids := []layout.Identity{to.ID}
	for _, c := range collections {
		ids = append(ids, m.settings.Clean(c, to).ID)
	}
	for range collection.MaxHops + 1 {
		var next []layout.Identity
		for _, id := range ids {
			if name, found := m.names[id]; found {
				return name, true
			}
			next = append(next, m.aliases[id]...)
		}
		ids = next
	}
	return "", false
}

// mirrored is the state of rewriting one page or style sheet for the mirror. Its method replace is
// called for each address in the content, in the order of the content.
type mirrored struct {
	*mirror
	name        string
	page, base  address.Address
	based       bool // a base element has been read: later base elements are ignored
	collections []string
}

// replace returns the text that replaces an address in the page: a relative path, or an absolute
// URL (see mirror). It returns "" for the address of a base element, because a base would change
// the meaning of all relative paths.
func (p *mirrored) replace(a hypertext.Address) string {
	if a.Use == hypertext.ToBase {
		if base, err := p.base.Resolve(a.URL); err == nil && !p.based {
			p.base, p.based = base, true
		}
		return ""
	}
	reference, fragment, isPart := strings.Cut(a.URL, "#")
	if isPart {
		fragment = "#" + fragment
	}
	to := p.base
	if reference != "" {
		var err error
		if to, err = p.base.Resolve(reference); err != nil {
			return a.URL // mailto:, data:, javascript: …
		}
	} else if p.base.ID == p.page.ID {
		return a.URL
	}
	name, found := p.find(to, p.collections)
	switch {
	case found && name == p.name && isPart:
		return fragment
	case found:
		return relative(p.name, name) + fragment
	case isAbsolute(reference):
		return a.URL
	}
	return to.URL + fragment
}

func isAbsolute(reference string) bool {
	scheme, rest, _ := strings.Cut(reference, ":")
	return (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) && strings.HasPrefix(rest, "//")
}

// relative returns the relative URL for a link from one file of the mirror to another. The
// parameters from and to are the paths of these files in the mirror, such as "example.org/a.html".
func relative(from, to string) string {
	dirs, parts := strings.Split(from, "/"), strings.Split(to, "/")
	dirs = dirs[:len(dirs)-1]
	for len(dirs) > 0 && len(parts) > 1 && dirs[0] == parts[0] {
		dirs, parts = dirs[1:], parts[1:]
	}
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Repeat("../", len(dirs)) + strings.Join(parts, "/")
}

var start = template.Must(template.New("").Parse(`<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Mirror</title>
{{if eq (len .) 1}}{{range .}}<meta http-equiv="refresh" content="0; url={{.Path}}">{{end}}
{{end}}</head><body><ul>
{{range .}}<li><a href="{{.Path}}">{{.URL}}</a></li>
{{end}}</ul></body></html>
`))

// end writes index.html, with links to the seeds or, if no seed is exported, to the page with the
// shortest file name on each host.
func (m *mirror) end() error {
	type entry struct{ URL, Path string }
	var entries []entry
	listed := make(map[string]bool)
	for _, seed := range m.seeds {
		at, err := collection.ParseSeed(seed)
		if err != nil {
			return err
		}
		if name, found := m.find(at, nil); found && !listed[name] {
			listed[name] = true
			entries = append(entries, entry{at.URL, relative("index.html", name)})
		}
	}
	if len(entries) == 0 {
		shortest := make(map[string]string) // by host
		for _, name := range m.names {
			host, _, _ := strings.Cut(name, "/")
			if best := shortest[host]; strings.HasSuffix(name, ".html") && (best == "" || len(name) < len(best) || len(name) == len(best) && name < best) {
				shortest[host] = name
			}
		}
		for _, name := range shortest {
			entries = append(entries, entry{name, relative("index.html", name)})
		}
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.URL, b.URL) })
	}
	var b strings.Builder
	if err := start.Execute(&b, entries); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.root, "index.html"), []byte(b.String()), 0o644)
}
