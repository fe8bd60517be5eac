// Package document turns the bytes of a page into links and text.
//
// Whatever it returns depends on its input alone: every limit counts bytes,
// nodes or nesting, never time, but for that of a PDF, which is read within its
// time or not at all. Markup that breaks every rule still gives what can be read
// of it. Functions are safe for concurrent use.
//
// Pages of other formats are read as the HTML that says the same:
//
//	body ─▶ Sniff ─┬─ text/html ─▶ Decode ──────────────────────────▶ Parse ─┬─▶ Links
//	               ├─ RSS, Atom ─▶ Decode ─▶ feed ───┐                  ▲    ├─▶ Content
//	               ├─ DOCX, ODT, EPUB, … ──▶ office ─┼─▶ markup.Writer ─┘    └─▶ Digest
//	               ├─ DOC, PPT ────────────▶ ole ────┤
//	               └─ PDF ─────────────────▶ pdf ────┘
package document

// Limits on what is read of one page and what is returned about it.
const (
	MaxBytes    = 4 << 20  // of a page's text that are parsed; the rest is cut off
	MaxNodes    = 200_000  // of a page's tree; what follows is not read
	MaxNesting  = 256      // elements; deeper ones become siblings
	MaxLinks    = 5_000    // of one page
	MaxAnchor   = 200      // bytes of a link's text
	MaxAround   = 100      // bytes of the words on each side of a link
	MaxTitle    = 300      // bytes
	MaxHeadings = 200      // of one page, each at most MaxTitle bytes
	MaxBody     = 1 << 20  // bytes of text for the index
	MaxRanges   = 2_000    // of a page's text in emphasis, and as many in larger type
	maxMetas    = 64       // elements of a page that are looked through for our agent's name
	maxSniffed  = 512      // bytes that http.DetectContentType looks at
	maxPrescan  = 16 << 10 // bytes searched for a declared charset; browsers search 1024 at first, and all later (WHATWG HTML, 13.2.3.5)
	maxJunk     = 1024     // bytes before the beginning of a PDF
	maxDetected = 64 << 10 // bytes given to charset detection
)
