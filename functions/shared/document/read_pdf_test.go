//go:build !race

package document

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Not under the race detector, where the library that reads PDF takes half a
// minute to compile.

// pdfOf writes a PDF that shows two lines.
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
