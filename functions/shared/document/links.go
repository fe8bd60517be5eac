package document

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Link is one reference from a page to an address.
type Link struct {
	Address address.Address
	Kind    book.Kind
	Region  book.Region
	Rel     string // lower case, sorted, space-separated; "nofollow" also where the page's meta robots says so
	Anchor  string // the link's text or an image's alternative, at most MaxAnchor bytes
	Around  string // the words of its block before and after it, at most 2×MaxAround bytes
}

// refers reports whether an element's address is followed.
func refers(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Area:
		return has(n.Attr, "href")
	case atom.Frame, atom.Iframe, atom.Img:
		return has(n.Attr, "src")
	}
	return false
}

// Links returns what a page at the address base refers to, in document order,
// at most MaxLinks; a link that says the same about the same target is
// returned once. References into the page itself and to other schemes than
// the web's are left out.
func (d *Document) Links(base address.Address) []Link {
	most := min(len(d.flow.links)+2, MaxLinks)
	r := resolver{base: base, page: base.URL, known: make(map[string]address.Address, most)}
	if d.Base != "" {
		if b, err := base.Resolve(d.Base); err == nil {
			r.base = b
		}
	}
	c := collector{document: d, resolver: r, seen: make(map[said]bool, most), links: make([]Link, 0, most)}
	c.add(d.Refresh, Link{Kind: book.Redirect, Region: book.Text})
	c.add(d.Canonical, Link{Kind: book.Canonical, Region: book.Text, Rel: "canonical"})
	for _, m := range d.flow.links {
		reference, link := d.link(m)
		c.add(reference, link)
	}
	return c.links
}

type said struct {
	target string
	kind   book.Kind
	anchor string
}

type collector struct {
	document *Document
	resolver resolver
	seen     map[said]bool
	links    []Link
}

func (c *collector) add(reference string, link Link) {
	if reference == "" || len(c.links) == MaxLinks {
		return
	}
	target, ok := c.resolver.resolve(reference)
	if !ok || target.URL == c.resolver.page && link.Kind != book.Canonical {
		return
	}
	key := said{target.URL, link.Kind, link.Anchor}
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	link.Address = target
	if c.document.Robots.NoFollow && !hasWord(link.Rel, "nofollow") {
		link.Rel = rel(link.Rel + " nofollow")
	}
	c.links = append(c.links, link)
}

// link describes the element of a mark and returns its reference.
func (d *Document) link(m mark) (string, Link) {
	link := Link{Kind: book.Anchor, Region: book.Text, Rel: rel(attribute(m.node, "rel"))}
	if m.navigation {
		link.Region = book.Navigation
	}
	reference := "href"
	switch m.node.DataAtom {
	case atom.A:
		link.Anchor = fold(string(d.flow.text[m.start:m.end]))
		set(&link.Anchor, fold(m.alt))
		set(&link.Anchor, fold(attribute(m.node, "title")))
	case atom.Area:
		link.Anchor = fold(attribute(m.node, "alt"))
	case atom.Img:
		link.Kind, reference = book.Image, "src"
		link.Anchor = fold(attribute(m.node, "alt"))
	default:
		link.Kind, reference = book.Frame, "src"
		link.Anchor = fold(attribute(m.node, "title"))
	}
	link.Anchor = cut(link.Anchor, MaxAnchor)
	link.Around = d.flow.around(m)
	return attribute(m.node, reference), link
}

// around returns the words before and after a mark in its block.
func (f *flow) around(m mark) string {
	before := f.text[max(0, m.start-MaxAround):m.start]
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	after := f.text[m.end:min(len(f.text), m.end+MaxAround)]
	if i := bytes.IndexByte(after, '\n'); i >= 0 {
		after = after[:i]
	}
	first := strings.ToValidUTF8(string(bytes.TrimSpace(before)), "")
	second := strings.ToValidUTF8(string(bytes.TrimSpace(after)), "")
	if first == "" || second == "" {
		return first + second
	}
	return cut(first+" "+second, 2*MaxAround)
}

func rel(value string) string {
	if value == "" {
		return ""
	}
	words := strings.Fields(strings.ToLower(value))
	slices.Sort(words)
	return cut(strings.Join(slices.Compact(words), " "), MaxAnchor)
}

// resolver resolves each reference of a page once.
type resolver struct {
	base  address.Address
	page  string
	known map[string]address.Address // "" for those that cannot be followed
}

func (r *resolver) resolve(reference string) (address.Address, bool) {
	reference, _, _ = strings.Cut(reference, "#")
	if reference == "" {
		return address.Address{}, false
	}
	target, found := r.known[reference]
	if !found {
		target, _ = r.base.Resolve(reference) // an error leaves it zero
		r.known[reference] = target
	}
	return target, target.URL != ""
}
