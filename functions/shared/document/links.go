package document

import (
	"bytes"
	"errors"
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
	Address address.Address // of a page or another file, or of a mail address (see address.ParseMail)
	Kind    book.Kind
	Region  book.Region
	// words of rel in lower case, sorted, separated by spaces; with "nofollow", too, if the page's meta
	// robots says so
	Rel    string
	Anchor string // the link's text, or the alternative text of an image, at most MaxAnchor bytes
	Around string // the words before and after the link in its block, at most 2×MaxAround bytes
}

// Links returns the references of a page in document order. base is the address of the page. Of
// references with the same target, kind and anchor it returns only the first. It leaves out
// references to the page itself, except for a canonical link. Of references other than http and https
// it returns only links to mail addresses (see address.ParseMail), and of these at most maxMails. If a
// limit cuts references off, Links adds a text to Omitted that says so.
func (d *Document) Links(base address.Address) []Link {
	most := 2 // Refresh and Canonical
	for i := range d.page.References {
		if !strings.HasPrefix(d.page.References[i].Address, "#") { // the others lead to places of the page itself
			most++
		}
	}
	c := collector{document: d, resolver: d.resolver(base, most), seen: make(map[linkKey]bool, most), links: make([]Link, 0, most)}
	if target, ok := c.elsewhere(d.Refresh); ok {
		c.add(target, Link{Kind: book.Redirect, Region: book.Text})
	}
	if target, ok := c.resolver.resolve(d.Canonical); ok {
		c.add(target, Link{Kind: book.Canonical, Region: book.Text, Rel: "canonical"})
	}
	for i := range d.page.References {
		r := &d.page.References[i]
		target, ok := c.elsewhere(r.Address)
		if ok && c.add(target, d.link(r)) {
			c.links[len(c.links)-1].Around = around(d.page.Text, int(r.Start), int(r.End))
		}
	}
	d.leave(c.resolver.cut, "%d addresses beyond %d MiB", maxAddresses>>20)
	d.leave(c.mailsCut, "%d links to mail addresses beyond %d", maxMails)
	return c.links
}

// leave adds a text to Omitted that says how many things a limit has left out, unless the number is 0 or
// the text is there already.
func (d *Document) leave(n int, format string, limit int) {
	if told := fmt.Sprintf(format, n, limit); n > 0 && !slices.Contains(d.Omitted, told) {
		d.Omitted = append(d.Omitted, told)
	}
}

// maxMails is the greatest number of a page's links to mail addresses that are collected. Pages that
// invent mail addresses to deceive collectors have thousands of them.
const maxMails = 200

// linkKey identifies equal links of a page. Of several links with the same key, only the first is
// collected.
type linkKey struct {
	target string
	kind   book.Kind
	anchor string
}

// collector collects the links of a page.
type collector struct {
	document *Document
	resolver resolver
	seen     map[linkKey]bool // keys of the links collected so far, so that none is collected twice
	links    []Link

	// number of links to mail addresses collected so far, and of those left out because of maxMails
	mails, mailsCut int
}

// elsewhere returns the address to which a reference leads. It returns false if the reference leads to no
// address, or to the page itself, as many do.
func (c *collector) elsewhere(reference string) (address.Address, bool) {
	target, ok := c.resolver.resolve(reference)
	return target, ok && target.URL != c.resolver.page
}

// add adds a link with the given target to the links of the page, and reports whether it did. It does
// nothing if the page has an equal link already (see linkKey).
func (c *collector) add(target address.Address, link Link) bool {
	key := linkKey{target.URL, link.Kind, link.Anchor}
	if c.seen[key] {
		return false
	}
	if target.IsMail() && !c.addMail(&link, target) {
		return false
	}
	c.seen[key] = true
	link.Address = target
	if c.document.Robots.NoFollow && !hasWord(link.Rel, "nofollow") {
		link.Rel = rel(link.Rel + " nofollow")
	}
	c.links = append(c.links, link)
	return true
}

// addMail reports whether a link to a mail address is collected: it must be a link that people
// follow, and not one of too many. If the link has no text, addMail sets its anchor to the mail
// address.
func (c *collector) addMail(link *Link, target address.Address) bool {
	if link.Kind != book.Anchor {
		return false
	}
	if c.mails == maxMails {
		c.mailsCut++
		return false
	}
	c.mails++
	set(&link.Anchor, strings.TrimPrefix(address.Shown(target.URL), "mailto:"))
	return true
}

// link returns a Link for a reference. It leaves the fields Address and Around empty: they are set
// when the link is added to those of the page.
func (d *Document) link(r *hypertext.Reference) Link {
	e := &d.page.Elements[r.Element]
	link := Link{Kind: book.Anchor, Region: book.Text, Rel: rel(r.Rel)}
	if e.Flags&hypertext.Navigation != 0 {
		link.Region = book.Navigation
	}
	switch e.Name {
	case atom.A:
		link.Anchor = d.label(r.Start, r.End, MaxAnchor)
		set(&link.Anchor, joinWords(r.Image))
		set(&link.Anchor, joinWords(r.Title))
	case atom.Area:
		link.Anchor = joinWords(r.Alt)
	case atom.Img:
		link.Kind = book.Asset
		link.Anchor = joinWords(r.Alt)
	default:
		link.Kind = book.Frame
		link.Anchor = joinWords(r.Title)
	}
	link.Anchor = cut(link.Anchor, MaxAnchor)
	return link
}

// around returns the words before and after text[start:end] in the same line, at most MaxAround
// bytes on each side.
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

// wholeRunes returns the words of a piece of a text, joined by single spaces, without bytes
// that are not UTF-8: the piece may begin or end within a character.
func wholeRunes(piece []byte) string {
	return joinWords(strings.ToValidUTF8(string(bytes.TrimSpace(piece)), ""))
}

// rel returns the value of a rel attribute as Link.Rel has it: its words in lower case, sorted, each
// once.
func rel(value string) string {
	if value == "" {
		return ""
	}
	words := strings.Fields(strings.ToLower(value))
	slices.Sort(words)
	return cut(strings.Join(slices.Compact(words), " "), MaxAnchor)
}

// maxAddresses is the limit on the total size in bytes of the resolved addresses of a page. A
// hostile page could combine many short references with a long base address, so that its
// resolved addresses have a hundred times the size of the page.
const maxAddresses = 16 << 20

// resolver resolves the references of a page to addresses, and keeps the results, so that each
// reference is resolved only once.
type resolver struct {
	base      address.Address   // address against which references are resolved
	page      string            // URL of the page
	known     map[string]int    // index in addresses, for each reference resolved so far
	addresses []address.Address // the addresses; zero if a reference is unresolvable
	size      int               // approximate size of the addresses in bytes
	cut       int               // number of references not resolved because of maxAddresses
}

// resolver returns a resolver for references of the page, which is at address a. References are
// relative to the page's <base href>, if it has one. The parameter references is the approximate
// number of references.
func (d *Document) resolver(a address.Address, references int) resolver {
	r := resolver{base: a, page: a.URL, known: make(map[string]int, references)}
	if base, err := a.Resolve(d.Base); err == nil && d.Base != "" {
		r.base = base
	}
	return r
}

// rebase resolves all further references against another address.
func (r *resolver) rebase(base address.Address) {
	r.base, r.addresses = base, r.addresses[:0]
	clear(r.known)
}

// resolve returns the address of a reference, without its fragment. It returns false for a
// reference that is empty, only a fragment, or unresolvable. Once the resolved addresses have
// reached the total size maxAddresses, it also returns false for every reference that was not
// resolved before.
func (r *resolver) resolve(reference string) (address.Address, bool) {
	reference, _, _ = strings.Cut(reference, "#")
	if reference == "" {
		return address.Address{}, false
	}
	if i, found := r.known[reference]; found {
		return r.addresses[i], r.addresses[i].URL != ""
	}
	if r.size >= maxAddresses {
		r.cut++
		return address.Address{}, false
	}
	target, err := r.base.Resolve(reference)
	if errors.Is(err, address.ErrScheme) {
		target, _ = address.ParseMail(reference)
	} // zero after an error
	r.known[reference] = len(r.addresses)
	r.addresses = append(r.addresses, target)
	r.size += len(r.base.URL) + len(reference) // estimate of the size of the address
	return target, target.URL != ""
}
