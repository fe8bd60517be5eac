// Package pdf reads PDF files with PDFium, the library of Chrome. PDFium is
// compiled to WebAssembly and runs in a sandbox with no files, no network, no
// clock and at most MaxMemory bytes. Each document has its own instance of the
// library. So whatever a file does to the library ends with the file.
//
// It returns HTML with the same content: the text of the first MaxPages pages, lines in
// larger type as headings, links, and the title. Its work is counted in pages and in
// instructions (package fuel), not in seconds, so that the result depends only on the
// file's bytes, and is the same on a busy machine. (There is one exception: the work also ends
// when nested calls fill the stack of wazero, 400 MB. How many calls do so depends on the kind
// of processor.) Where a limit ends the work, the result has the pages before, and names those
// that are missing. Functions are safe for concurrent use.
//
// pdfium.wasm is dist/pdfium.wasm of the npm package @hyzyla/pdfium 2.1.13
// (SHA-256 71aec412a303a0405baee21c3d6d3f30ad2033dc02444130fe476be3976e2d09),
// unchanged; NOTICE and the files LICENSE.* hold its licences. The first call meters
// and compiles it, which takes 1.4 to 2.5 s of processor time and 118 MB of memory, of
// which it keeps 30 MB. A document takes 5 ms and 18 MB, and each page 5 ms more. A
// program that reads no PDF pays nothing but the four megabytes in its file.
package pdf

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/api"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// MediaType is the media type of PDF files.
const MediaType = "application/pdf"

// Limits of a file. Beyond MaxMemory and MaxInstructions no further pages are read; the other
// limits cut the result.
const (
	MaxPages  = 500
	MaxMemory = 128 << 20 // greatest number of bytes of the library's memory
	maxLinks  = 1_000     // greatest number of links of a page
	maxField  = 16_384    // greatest size of an address or a title, in bytes

	MaxInstructions = 200e9 // most instructions allowed for any file: some 15 s of a processor
	minInstructions = 10e9
	// instructions allowed for each byte of a file, in addition to minInstructions; PDF files of
	// manuals were seen to need up to 21,000 for each byte
	instructions = 100_000
)

// allowance returns how many instructions may be spent on reading a file of the given size in
// bytes. The number grows with the size, because a small file that takes as many instructions as a
// book is an attack.
func allowance(size int) int64 {
	return min(minInstructions+instructions*int64(size), MaxInstructions)
}

// HTML converts a file to HTML. It fails if PDFium cannot read the file, if the file needs a
// password, or if the allowed instructions or memory run out before the first page is read. If they
// run out later, the HTML has the pages read until then, and Omitted names the missing ones.
func HTML(data []byte) (markup.Page, error) {
	e, err := compiled()
	if err != nil {
		return markup.Page{}, fmt.Errorf("cannot compile PDFium: %w", err)
	}
	return e.convert(data, allowance(len(data)))
}

func (e *engine) convert(data []byte, instructions int64) (markup.Page, error) {
	i, err := e.newInstance(instructions)
	if err != nil {
		return markup.Page{}, fmt.Errorf("cannot read PDF: %w", err)
	}
	defer i.close()
	d := i.read(data)
	if i.err != nil && d.read == 0 {
		return markup.Page{}, fmt.Errorf("cannot read PDF: %w", i.err)
	}
	d.end = i.err
	return d.html(), nil
}

// pdfDocument is the content of a PDF file, as far as it was read.
type pdfDocument struct {
	title string
	// day of the last change or, if it is not known, of the creation, such as 20261126; "" if neither is known
	modified string
	lines    []textLine
	links    []linkArea
	pages    int   // number of pages of the file
	read     int   // number of pages that were read
	dense    bool  // whether a page has more than maxLinks links
	end      error // error that ended the reading before the last page, or nil
}

// textLine is a line of text on a page.
type textLine struct {
	text string
	page int
	size int // size of the line's first letter, in tenths of a point
}

type linkArea struct {
	address string
	text    string // text of the page within the area of the link
	page    int
}

func (i *instance) read(data []byte) (d pdfDocument) {
	file := i.allocate(len(data))
	copy(i.bytes(file, len(data)), data)
	handle := i.call("FPDF_LoadMemDocument", file, uint64(len(data)), 0)
	if handle == 0 {
		i.fail(i.integer("FPDF_GetLastError"))
		return d
	}
	d.title = i.property(handle, "Title")
	d.modified = day(cmp.Or(i.property(handle, "ModDate"), i.property(handle, "CreationDate")))
	size := 0 // of the text so far
	d.pages = i.integer("FPDF_GetPageCount", handle)
	for page := range min(d.pages, MaxPages) {
		lines, links := len(d.lines), len(d.links)
		i.readPage(&d, handle, page)
		if i.err != nil {
			d.lines, d.links = d.lines[:lines], d.links[:links]
			break
		}
		d.read++
		for _, l := range d.lines[lines:] {
			size += len(l.text)
		}
		if size > markup.MaxBytes/4 {
			break
		}
	}
	return d
}

func (i *instance) fail(code int) {
	const password, security = 4, 5
	switch {
	case i.err != nil:
	case code == password, code == security:
		i.err = errors.New("it needs a password")
	default:
		i.err = fmt.Errorf("no PDF, or too broken (PDFium's error %d)", code)
	}
}

// property returns a property of the file (ISO 32000-1, 14.3.3), such as its Title; "" if it has none.
func (i *instance) property(document uint64, name string) string {
	name += "\x00"
	at := i.allocate(len(name))
	defer i.free(at)
	copy(i.bytes(at, len(name)), name)
	b := i.sized("FPDF_GetMetaText", document, at)
	return strings.TrimSpace(strings.Trim(markup.UTF16(b), "\x00"))
}

// day returns the day of a time such as D:20261126103000+01'00' (ISO 32000-1, 7.9.4): 20261126.
func day(at string) string {
	at = strings.TrimPrefix(at, "D:")
	return at[:min(len(at), len("20261126"))]
}

// readPage adds the lines and links of the page with the given number, from 0 on, to d. For a page
// that cannot be read it adds none.
func (i *instance) readPage(d *pdfDocument, document uint64, number int) {
	page := i.call("FPDF_LoadPage", document, uint64(number))
	if page == 0 {
		return
	}
	defer i.call("FPDF_ClosePage", page)
	text := i.call("FPDFText_LoadPage", page)
	if text == 0 {
		return
	}
	defer i.call("FPDFText_ClosePage", text)
	i.readLines(d, text, number)
	i.readLinks(d, document, page, text, number)
}

func (i *instance) readLines(d *pdfDocument, text uint64, page int) {
	count := i.integer("FPDFText_CountChars", text)
	buffer := i.allocate(2*count + 2)
	defer i.free(buffer)
	units := i.integer("FPDFText_GetText", text, 0, uint64(count), buffer)
	at := 0
	for l := range strings.Lines(markup.UTF16(i.bytes(buffer, 2*max(units-1, 0)))) { // without the final zero
		first := i.call("FPDFText_GetCharIndexFromTextIndex", text, uint64(at))
		size := api.DecodeF64(i.call("FPDFText_GetFontSize", text, first))
		at += units16(l)
		d.lines = append(d.lines, textLine{l, page, int(min(max(size, 0), 1000) * 10)})
	}
}

func units16(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// readLinks adds to d those links of a page that lead to web addresses. It looks at maxLinks links
// at most. number is the number of the page, from 0 on.
func (i *instance) readLinks(d *pdfDocument, document, page, text uint64, number int) {
	const position, handle, size = 0, 4, 8 // in the buffer: an int, a pointer
	const uri = 3                          // kind of action
	buffer := i.allocate(size)
	defer i.free(buffer)
	copy(i.bytes(buffer, size), make([]byte, size))
	for range maxLinks {
		if i.call("FPDFLink_Enumerate", page, buffer+position, buffer+handle) == 0 {
			return
		}
		b := i.bytes(buffer+handle, 4)
		if b == nil {
			return
		}
		one := uint64(binary.LittleEndian.Uint32(b))
		action := i.call("FPDFLink_GetAction", one)
		if action == 0 || i.call("FPDFAction_GetType", action) != uri {
			continue
		}
		address := strings.TrimSpace(strings.Trim(string(i.sized("FPDFAction_GetURIPath", document, action)), "\x00"))
		if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
			d.links = append(d.links, linkArea{address, i.textAt(one, text), number})
		}
	}
	d.dense = true
}

func (i *instance) textAt(link, text uint64) string {
	const corners, rectangle = 4, 16
	const units = 512
	buffer := i.allocate(rectangle + 2*units)
	defer i.free(buffer)
	if i.call("FPDFLink_GetAnnotRect", link, buffer) == 0 {
		return ""
	}
	b := i.bytes(buffer, rectangle)
	if b == nil {
		return ""
	}
	arguments := []uint64{text}
	for c := range corners { // left, top, right, bottom
		corner := math.Float32frombits(binary.LittleEndian.Uint32(b[4*c:]))
		arguments = append(arguments, api.EncodeF64(float64(corner)))
	}
	n := i.integer("FPDFText_GetBoundedText", append(arguments, buffer+rectangle, units)...)
	return strings.TrimSpace(strings.Trim(markup.UTF16(i.bytes(buffer+rectangle, 2*min(n, units))), "\x00"))
}
