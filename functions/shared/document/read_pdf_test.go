//go:build !race

package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// These tests do not run under the race detector, with which the library that reads PDF takes
// half a minute to compile.

// pdfOf returns a PDF file that shows two lines.
func pdfOf() string {
	content := "BT /F 24 Tf 50 700 Td (Chapter) Tj ET BT /F 12 Tf 50 650 Td (All of the text.) Tj ET"
	return `%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>> endobj
4 0 obj <</Length ` + fmt.Sprint(len(content)) + `>> stream
` + content + `
endstream endobj
trailer <</Root 1 0 R>>
`
}

func TestReadPDF(t *testing.T) {
	got := Text([]byte(pdfOf()), "application/octet-stream", "http://a/x.pdf")
	want := Content{Title: "Chapter", Headings: []string{"Chapter"}, Body: "Chapter\nAll of the text.", Large: []layout.Span{{Start: 0, End: 7}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := Read([]byte("%PDF-1.4"), "application/pdf"); err == nil || err.Error() != "cannot read PDF: no PDF, or too broken (PDFium's error 3)" {
		t.Errorf("error %v", err)
	}
}

// TestStoredPDF converts a PDF file to HTML. Then it stores this conversion beside a broken PDF
// file. The function Stored must read the stored page from the conversion, with the same result as
// Read had from the intact file.
func TestStoredPDF(t *testing.T) {
	const pages = 510
	file := strings.Replace(pdfOf(), "/Kids[3 0 R]/Count 1", fmt.Sprintf("/Kids[%s]/Count %d", strings.Repeat("3 0 R ", pages), pages), 1)
	stored := webobject.Object{URL: "http://a/x.pdf", MIME: "application/pdf", Data: []byte(file)}
	first, err := Read(stored.Data, stored.MIME)
	if err != nil {
		t.Fatal(err)
	}
	stored.Conversion = first.Conversion()
	if omitted := stored.Conversion.Omitted; len(omitted) != 1 || omitted[0] != "pages 501 to 510" {
		t.Errorf("omitted %q", omitted)
	}
	stored.Data = []byte("%PDF-1.4 broken")
	again, err := Stored(stored)
	if err != nil {
		t.Fatal(err)
	}
	a := address.Address{URL: stored.URL}
	for what, of := range map[string]func(*Document) any{
		"content":    func(d *Document) any { return d.Content() },
		"digest":     func(d *Document) any { return d.Digest() },
		"links":      func(d *Document) any { return d.Links(a) },
		"structure":  func(d *Document) any { p := d.Structured(a); return p.Markdown() },
		"omitted":    func(d *Document) any { return d.Omitted },
		"conversion": func(d *Document) any { return d.Conversion() },
	} {
		if diff := cmp.Diff(of(first), of(again)); diff != "" {
			t.Errorf("%s (-first +again):\n%s", what, diff)
		}
	}
	if p, err := Structure(stored); err != nil || p.Title != "Chapter" {
		t.Errorf("structure of %q, error %v", p.Title, err)
	}
	stored.Conversion = &webobject.Conversion{HTML: stored.Conversion.HTML, Reader: conversionVersion - 1}
	if _, err := Stored(stored); err == nil {
		t.Error("a conversion of an older version is not made again")
	}
}

func TestOnlyPDFKeepsItsConversion(t *testing.T) {
	for media, body := range map[string]string{"text/html": "<p>words", "text/plain": "words", "application/rtf": `{\rtf1 words}`} {
		d, err := Read([]byte(body), media)
		if err == nil && d.Conversion() != nil {
			t.Errorf("%s: keeps %s", media, d.Conversion().HTML)
		}
	}
}
