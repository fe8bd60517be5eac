// Package hypertext reads a page of HTML in one pass over its tokens. What it
// returns is flat: the text in reading order, and arrays of the elements, the
// blocks of text and the references, which point into the text and to each other
// by number. No tree of nodes is built.
//
//	<h1>Cats</h1><p>See <a href=/dogs>dogs</a>.</p>
//
//	Text        Cats\nSee dogs.
//	Blocks      [0:4] of h1, [5:14] of p
//	Elements    html, body, h1, p, a
//	References  a, href /dogs, text [9:13]
//
// Reading takes time and memory linear in the page, whatever it holds, and never
// fails: markup that breaks every rule gives what can be read of it. Of the tree
// construction of WHATWG HTML (13.2.6) it follows what matters to text and links:
// void elements, implied end tags, scopes, foreign elements.
package hypertext

import "golang.org/x/net/html/atom"

// Limits on what is read of one page. What they cut off is told by Page.Cut.
const (
	MaxBytes      = 16 << 20 // of markup
	MaxElements   = 1_000_000
	MaxNesting    = 256      // elements; deeper ones become siblings
	MaxReferences = 100_000  // links, images and frames
	MaxMetas      = 256      // meta elements, and as many link elements
	MaxData       = 1 << 20  // bytes of JSON-LD
	MaxAttributes = 64       // of a tag
	MaxValue      = 16 << 10 // bytes of an attribute's value
	maxClass      = 1 << 10  // bytes of one that tells what its element is for
)

// Page is a page that was read.
type Page struct {
	Text       []byte      // all of it, white space folded but in pre; blocks and lines end with a line feed
	Elements   []Element   // in document order; the first is html
	Blocks     []Block     // in order, without gaps but for line feeds
	References []Reference // in document order
	Title      string      // of the title element, white space folded
	Lang       string      // attribute of html
	Base       string      // href of base
	Metas      []Meta
	Links      []Link           // link elements
	Data       [][]byte         // contents of script elements of type application/ld+json
	Languages  map[int32]string // by number of an element: the programming language that its class tells
	Scripts    int              // bytes of scripts, and their number of elements
	Cut        Cut
}

// Cut says what limits cut off.
type Cut struct {
	Bytes      int // of markup
	Elements   bool
	References int
	Metas      int // meta and link elements
	Data       int // bytes of JSON-LD
	Attributes int // of tags with more
	Values     int // attributes of which only the beginning was read
}

// Element is an element of the page.
type Element struct {
	Name       atom.Atom // 0 for an unknown one
	Parent     int32     // number of the element around it, -1 of html
	Last       int32     // number of the first element behind its last descendant
	Start, End int32     // of its text
	Own        Words     // groups of the words in its class, id, role and itemprop
	Around     Words     // those of its own and of all elements around it
	Flags      Flags
	Depth      uint8
}

// Flags tell where an element stands.
type Flags uint32

// The flags. All are inherited by what is inside.
const (
	Hidden     Flags = 1 << iota // a browser does not show it
	Navigation                   // it says of itself that it holds navigation
	Main                         // or the main part
	Linked                       // inside a link
	Preformed                    // white space is kept
	InArticle
	InHeader
	InFooter
	InAside
	InNav
	InForm
	InTable
	InList
	InHeading
	InQuote
	Unseen   // no text of a page: script, style, template …
	NoScript // shown where no scripts run

	// FlagCount is the number of flags.
	FlagCount = iota
)

// Block is a run of text that stands alone: a paragraph, a heading, an item, a
// cell.
type Block struct {
	Start, End int32 // of Text
	Element    int32 // the innermost that begins and ends lines
	Linked     int32 // bytes inside links
	Emphasized int32 // bytes that are bold
	Flags      Flags // of the innermost element of its first text
}

// Reference is an element that refers to an address, as it is written.
type Reference struct {
	Element         int32 // a, area, img, frame or iframe
	Address         string
	Alt, Title, Rel string
	Image           string // alternative text of the first image inside
	Start, End      int32  // of its text
}

// Meta is a meta element.
type Meta struct{ Name, Property, Pragma, Content string }

// Link is a link element of the head.
type Link struct{ Rel, Address string }
