package pdf

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/api"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// HTML returns what a file says. It fails where the file is none that PDFium
// reads, needs a password, or takes more time or memory than allowed.
func HTML(data []byte) ([]byte, error) {
	e, err := compiled()
	if err != nil {
		return nil, fmt.Errorf("cannot compile PDFium: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), MaxTime)
	defer cancel()
	return e.convert(ctx, data)
}

func (e *engine) convert(ctx context.Context, data []byte) ([]byte, error) {
	i, err := e.newInstance(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot read PDF: %w", err)
	}
	defer i.close()
	d := i.read(data)
	if i.err != nil {
		return nil, fmt.Errorf("cannot read PDF: %w", i.err)
	}
	return d.html(), nil
}

// document is what is taken from a file.
type document struct {
	title string
	lines []line
	links []link
}

// line is one of a page.
type line struct {
	text string
	page int
	size int // of its first letter, in tenths of a point
}

type link struct {
	address string
	text    string // in its area of the page
	page    int
}

func (i *instance) read(data []byte) (d document) {
	file := i.allocate(len(data))
	copy(i.bytes(file, len(data)), data)
	handle := i.call("FPDF_LoadMemDocument", file, uint64(len(data)), 0)
	if handle == 0 {
		i.fail(i.integer("FPDF_GetLastError"))
		return d
	}
	d.title = i.title(handle)
	size := 0 // of the text so far
	for page := range min(i.integer("FPDF_GetPageCount", handle), MaxPages) {
		before := len(d.lines)
		i.readPage(&d, handle, page)
		for _, l := range d.lines[before:] {
			size += len(l.text)
		}
		if i.err != nil || size > markup.MaxBytes/4 {
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

func (i *instance) title(document uint64) string {
	name := i.allocate(len("Title\x00"))
	defer i.free(name)
	copy(i.bytes(name, 6), "Title\x00")
	b := i.sized("FPDF_GetMetaText", document, name)
	return strings.TrimSpace(strings.Trim(wide(b), "\x00"))
}

// readPage adds the lines and links of a page; a broken page has none.
func (i *instance) readPage(d *document, document uint64, number int) {
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

func (i *instance) readLines(d *document, text uint64, page int) {
	count := i.integer("FPDFText_CountChars", text)
	buffer := i.allocate(2*count + 2)
	defer i.free(buffer)
	units := i.integer("FPDFText_GetText", text, 0, uint64(count), buffer)
	at := 0
	for l := range strings.Lines(wide(i.bytes(buffer, 2*max(units-1, 0)))) { // without the final zero
		first := i.call("FPDFText_GetCharIndexFromTextIndex", text, uint64(at))
		size := api.DecodeF64(i.call("FPDFText_GetFontSize", text, first))
		at += units16(l)
		d.lines = append(d.lines, line{l, page, int(min(max(size, 0), 1000) * 10)})
	}
}

func units16(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
