//go:build !race

package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Not under the race detector, where the library that reads PDF takes half a
// minute to compile.

// TestPDFIsStoredWithItsConversion fetches a PDF file: it must be stored together with its
// conversion to HTML, and the outcome must say that the text was cut.
func TestPDFIsStoredWithItsConversion(t *testing.T) {
	const content = "BT /F 12 Tf 50 650 Td (All of the text.) Tj ET"
	body := `%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[` + strings.Repeat("3 0 R ", 501) + `]/Count 501>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>> endobj
4 0 obj <</Length ` + fmt.Sprint(len(content)) + `>> stream
` + content + `
endstream endobj
trailer <</Root 1 0 R>>
`
	p := page{address: parsed(t, "http://a/"), behalf: behalf{settings: new(settings.Settings)}, parse: document.Read,
		answer: answer{status: 200, body: []byte(body), header: http.Header{"Content-Type": {"application/pdf"}}}}
	o := book.Outcome{URL: "http://a/", Attempts: 1}
	got := p.guarded(&o, new(sync.Pool))
	if o.State != book.Stored || o.Reason != book.Cut || o.Detail != "without pages 501 to 501" {
		t.Errorf("outcome %s, %q, %q", o.State, o.Reason, o.Detail)
	}
	stored, err := got.run.Object()
	if err != nil {
		t.Fatal(err)
	}
	if string(stored.Data) != body || stored.Conversion == nil || !strings.Contains(string(stored.Conversion.HTML), "All of the text.") {
		t.Errorf("stored %d bytes with %+v", len(stored.Data), stored.Conversion)
	}
}
