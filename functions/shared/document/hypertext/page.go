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

// Limits on the part of a page that is read. Page.Cut says what they cut off.
const (
	MaxBytes      = 16 << 20 // greatest size of the markup, in bytes; the rest is not read
	MaxElements   = 1_000_000
	MaxNesting    = 256      // greatest depth of elements; a deeper one is read as if it ended after its start tag
	MaxReferences = 100_000  // greatest number of links, images and frames together
	MaxMetas      = 256      // greatest number of meta elements; also the limit for link elements
	MaxData       = 1 << 20  // greatest size of all JSON-LD, in bytes
	MaxAttributes = 64       // greatest number of attributes of a tag
	MaxValue      = 16 << 10 // greatest size of an attribute's value, in bytes
	MaxAnchors    = 100_000  // greatest number of anchors
	MaxAnchor     = 300      // greatest size of an anchor's name, in bytes
	MaxTimes      = 10_000   // greatest number of elements with a date
	MaxTime       = 100      // greatest size of the date of an element, in bytes; an element with a longer one has none
	maxClass      = 1 << 10  // greatest size of an attribute such as class or role, in bytes
	maxTool       = 24       // greatest size of the text of a link such as [source], in bytes (see dropMark)
	aboveTool     = 4        // greatest number of elements around such a link in which a heading or term is looked for
)

// Page is the result of Read: the text, elements, blocks, references and metadata of a page.
type Page struct {
	// Text is the page's text. Its words have single spaces between them, except in pre.
	// Each block and each line ends with a line feed.
	Text       []byte
	Elements   []Element   // elements in document order; the first is html
	Blocks     []Block     // blocks in the order of Text, with only line feeds between them
	References []Reference // references in document order
	Anchors    []Anchor    // anchors in document order
	Times      []Time      // elements with dates, in document order
	Title      string      // text of the title element, with single spaces between its words
	Lang       string      // attribute lang of the html element
	Base       string      // attribute href of the base element
	Metas      []Meta
	Links      []Link           // the page's link elements
	Data       [][]byte         // contents of script elements of type application/ld+json
	Languages  map[int32]string // programming language that an element's class names, by the index of the element in Elements
	Scripts    int              // number of script elements
	Cut        Cut
}

// Cut says how much of a page was not read because of the limits.
type Cut struct {
	Bytes      int // bytes of markup beyond MaxBytes
	Elements   bool
	References int
	// number of elements left out: meta elements after the first MaxMetas, and link elements after
	// the first MaxMetas
	Metas      int
	Data       int // bytes of JSON-LD beyond MaxData
	Attributes int // number of attributes ignored because their tag has more than MaxAttributes
	Values     int // number of attribute values that were cut to MaxValue bytes
	Times      int // number of elements with dates beyond MaxTimes
	Anchors    int // number of anchors left out: those beyond MaxAnchors, and those whose names are beyond MaxAnchor
}

// Element is an element of the page.
type Element struct {
	Name       atom.Atom // name of the element; 0 if package atom does not know it
	Parent     int32     // the element around this one, as an index in Page.Elements; -1 for html
	Last       int32     // the descendants of the element with index i are Page.Elements[i+1:Last]
	Start, End int32     // range of the element's text in Page.Text
	Own        Words     // groups (see Words) of the words in the element's class, id, role and itemprop
	Around     Words     // union of the fields Own of this element and of all elements around it
	Flags      Flags
	Depth      uint8
}

// Flags are properties of an element that also hold for all text inside of it.
type Flags uint32

// The flags. An element also has the flags of the elements around it.
const (
	Hidden     Flags = 1 << iota // a browser does not show the element, by its attributes or, on a page without scripts, its style elements
	Navigation                   // the element is navigation, by its name, class, id or role
	Main                         // the element is the main part, by its name or role
	Linked                       // the element is inside of a link
	Preformed                    // white space in the element is kept, as in pre
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
	Unseen   // the content of the element is not text of the page: script, style, template …
	NoScript // the element is shown only if scripts are off

	// FlagCount is the number of flags.
	FlagCount = iota
)

// Block is a piece of text on lines of its own: a paragraph, a heading, an item of a list, a
// cell of a table.
type Block struct {
	Start, End int32 // range of the block in Page.Text
	Element    int32 // innermost block element (see isBlock) around the block, as an index in Page.Elements
	Linked     int32 // number of bytes of the block that are in links
	Emphasized int32 // number of bytes of the block that are in bold type
	Flags      Flags // flags of the innermost element around the first character of the block
}

// Reference is an element that refers to an address. The values of its attributes are as the page
// has them; addresses are not resolved.
type Reference struct {
	Element         int32 // the element (a, area, img, frame or iframe), as an index in Page.Elements
	Address         string
	Alt, Title, Rel string
	Image           string // alternative text of the first image inside of the element
	Start, End      int32  // range of the element's text in Page.Text
}

// Anchor is an element to which addresses with a fragment can lead: one with an id, or an a element
// with a name. Its name is as the page has it, with character references decoded. Several anchors may
// have the same name: then the first counts.
type Anchor struct {
	Element int32 // the element, as an index in Page.Elements
	Name    string
}

// Time is an element with the attribute datetime, as the element time has it.
type Time struct {
	Element int32 // the element, as an index in Page.Elements
	Date    string
}

// Meta has the values of five attributes of a meta element: name, property, itemprop (in the field Item),
// http-equiv (in the field Pragma) and content. Item is empty if the element is in the body of the page: there,
// itemprop describes the element around it, such as a comment, and not the page.
type Meta struct{ Name, Property, Item, Pragma, Content string }

// Link has the values of the attributes rel, href and hreflang of a link element, in this order.
type Link struct{ Rel, Address, Language string }
