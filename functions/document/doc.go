// Package document turns the bytes of a page into links and text.
//
// Whatever it returns depends on its input alone: every limit counts bytes,
// nodes or nesting, never time. Nothing in it fails; a page that breaks every
// rule still gives what can be read of it. Functions are safe for concurrent
// use.
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
	maxSniffed  = 512      // bytes that http.DetectContentType looks at
	maxPrescan  = 1024     // bytes searched for a declared charset (WHATWG HTML, 13.2.3.2)
	maxDetected = 64 << 10 // bytes given to charset detection
)
