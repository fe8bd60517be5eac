// Package pdf reads PDF files with PDFium, the library of Chrome, compiled to
// WebAssembly and run in a sandbox: it has no files, no network, no clock, at
// most MaxMemory bytes, and each document has an instance of its own, so that
// whatever a file does to the library ends with the file.
//
// It returns HTML that says the same: the text of the first MaxPages pages,
// lines in larger type than most as headings, links, and the title. The result
// depends on the file's bytes alone; a file that is not read within MaxTime
// fails and has no result at all. Functions are safe for concurrent use.
//
// pdfium.wasm is dist/pdfium.wasm of the npm package @hyzyla/pdfium 2.1.13
// (SHA-256 71aec412a303a0405baee21c3d6d3f30ad2033dc02444130fe476be3976e2d09),
// unchanged; NOTICE and the files LICENSE.* hold its licences. The first call
// compiles it, which takes 1.2 to 1.7 s of processor time and 115 MB, of which it
// keeps 30; a document takes 5 ms and 18 MB, and 8 ms a page more (50 ms where the
// fonts are Chinese or Japanese).
package pdf

import "time"

// MediaType is that of the files that are read.
const MediaType = "application/pdf"

// Limits beyond which a file is not read, or not to its end.
const (
	MaxPages  = 200
	MaxMemory = 128 << 20 // bytes that the library may have
	MaxTime   = 30 * time.Second
	maxLinks  = 1_000  // of a page
	maxField  = 16_384 // bytes of an address or a title, as the library returns it
)
