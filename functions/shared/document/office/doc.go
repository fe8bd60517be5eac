// Package office reads office documents that are XML in zip archives: DOCX,
// PPTX and XLSX (ECMA-376), ODT, ODS and ODP (OpenDocument 1.3), EPUB (3.3).
//
// It returns HTML that says the same: the text in reading order, headings where
// the format says so, links, and the title and language of the document's
// properties. What is hidden, deleted, in comments, headers and footers is left
// out. The result depends on the document's bytes alone. Functions are safe for
// concurrent use.
package office

// Limits beyond which a document is not read, or not to its end.
const (
	MaxMembers = 10_000   // of the archive
	MaxMember  = 16 << 20 // bytes of one, decoded; the rest is cut off
	MaxTotal   = 32 << 20 // bytes of all that are read, decoded
	maxStrings = 1 << 20  // that the cells of a spreadsheet share
)
