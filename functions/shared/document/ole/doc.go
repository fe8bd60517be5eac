// Package ole reads the office documents of before 2007: Word (DOC) and
// PowerPoint (PPT) files, which are streams in an OLE compound file.
//
// It returns HTML that says the same: the text in the order in which it is
// stored, links of Word's fields, titles of slides as headings. Formatting is
// left out. The result depends on the document's bytes alone. Functions are
// safe for concurrent use.
//
//	compound file [MS-CFB], all numbers little-endian
//	┌────────────┬──────────┬──────────┬─────┐
//	│ header 512 │ sector 0 │ sector 1 │ …   │  sectors of 512 or 4096 bytes
//	└────────────┴──────────┴──────────┴─────┘
//	header: where the table of sectors lies (next sector of each sector), and
//	the first sectors of the directory and of the small streams' table
//	directory: entries of 128 bytes: name, kind, first sector, size
//	streams below 4096 bytes lie in sectors of 64 bytes within the root's stream
package ole

// Limits beyond which a file is not read, or not to its end.
const (
	MaxStream  = 32 << 20 // bytes of one stream; the rest is cut off
	MaxEntries = 10_000   // of the directory
)
