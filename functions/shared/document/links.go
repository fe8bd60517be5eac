package document

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
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

// Links returns the references of a page at the address base, in document order. Of
// several with the same target, kind and anchor it returns the first. References into the
// page itself and to other schemes than the web's are left out. Those that a limit leaves
// out are counted in Omitted.
func (d *Document) Links(base address.Address) []Link {
	most := len(d.page.References) + 2
	r := newResolver(base, most)
	if d.Base != "" {
		if b, err := base.Resolve(d.Base); err == nil {
			r.base = b
		}
	}
	c := collector{document: d, resolver: r, seen: make(map[said]bool, most), links: make([]Link, 0, most)}
	c.add(d.Refresh, Link{Kind: book.Redirect, Region: book.Text})
	c.add(d.Canonical, Link{Kind: book.Canonical, Region: book.Text, Rel: "canonical"})
	for i := range d.page.References {
		r := &d.page.References[i]
		c.add(r.Address, d.link(r))
	}
	if told := fmt.Sprintf("%d addresses beyond %d MiB", c.resolver.cut, maxAddresses>>20); c.resolver.cut > 0 && !slices.Contains(d.Omitted, told) {
		d.Omitted = append(d.Omitted, told)
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
	if reference == "" {
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

// link returns everything about a reference but its resolved address.
func (d *Document) link(r *hypertext.Reference) Link {
	e := &d.page.Elements[r.Element]
	link := Link{Kind: book.Anchor, Region: book.Text, Rel: rel(r.Rel)}
	if e.Flags&hypertext.Navigation != 0 {
		link.Region = book.Navigation
	}
	switch e.Name {
	case atom.A:
		link.Anchor = d.label(r.Start, r.End, MaxAnchor)
		set(&link.Anchor, fold(r.Image))
		set(&link.Anchor, fold(r.Title))
	case atom.Area:
		link.Anchor = fold(r.Alt)
	case atom.Img:
		link.Kind = book.Asset
		link.Anchor = fold(r.Alt)
	default:
		link.Kind = book.Frame
		link.Anchor = fold(r.Title)
	}
	link.Anchor = cut(link.Anchor, MaxAnchor)
	link.Around = around(d.page.Text, int(r.Start), int(r.End))
	return link
}

// around returns the words before and after text[start:end] in its line.
func around(text []byte, start, end int) string {
	before := text[max(0, start-MaxAround):start]
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	after := text[end:min(len(text), end+MaxAround)]
	if i := bytes.IndexByte(after, '\n'); i >= 0 {
		after = after[:i]
	}
	first, second := wholeRunes(before), wholeRunes(after)
	if first == "" || second == "" {
		return first + second
	}
	return cut(first+" "+second, 2*MaxAround)
}

// wholeRunes folds a piece of a text, after it has removed the parts of cut characters at
// its ends.
func wholeRunes(piece []byte) string {
	return fold(strings.ToValidUTF8(string(bytes.TrimSpace(piece)), ""))
}

func rel(value string) string {
	if value == "" {
		return ""
	}
	words := strings.Fields(strings.ToLower(value))
	slices.Sort(words)
	return cut(strings.Join(slices.Compact(words), " "), MaxAnchor)
}

// maxAddresses is how many bytes the resolved addresses of a page's references may have in
// all. References are short, but a base address may be long: resolved, those of a hostile
// page would have a hundred times its size.
const maxAddresses = 16 << 20

// resolver resolves each reference of a page once.
type resolver struct {
	base  address.Address
	page  string
	known map[string]address.Address // by reference; zero if it cannot be resolved
	size  int                        // about that of the known addresses, in bytes
	cut   int                        // number of references not resolved because of maxAddresses
}

func newResolver(base address.Address, references int) resolver {
	return resolver{base: base, page: base.URL, known: make(map[string]address.Address, references)}
}

func (r *resolver) resolve(reference string) (address.Address, bool) {
	reference, _, _ = strings.Cut(reference, "#")
	if reference == "" {
		return address.Address{}, false
	}
	target, found := r.known[reference]
	switch {
	case found:
	case r.size >= maxAddresses:
		r.cut++
	default:
		target, _ = r.base.Resolve(reference) // an error leaves it zero
		r.known[reference] = target
		r.size += len(r.base.URL) + len(reference) // what the resolving costs
	}
	return target, target.URL != ""
}
