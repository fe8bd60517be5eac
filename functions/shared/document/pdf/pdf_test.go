//go:build !race

package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fileOf writes a PDF: objects are numbered from 1, which is the catalog; the
// trailer may say more.
func fileOf(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var places []int
	for i, o := range objects {
		places = append(places, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range places {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, table)
	return b.Bytes()
}

func streamOf(dictionary, content string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dictionary, len(content), content)
}

const (
	catalog    = "<</Type/Catalog/Pages 2 0 R>>"
	font       = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
	page       = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>"
	annotation = "<</Type/Annot/Subtype/Link/Rect[95 645 145 665]/A<</S/URI/URI(https://a.test/?x=1&y)>>>>"
)

func show(size, x, y int, text string) string {
	return fmt.Sprintf("BT /F %d Tf %d %d Td (%s) Tj ET\n", size, x, y, text)
}

func report(trailer string) []byte {
	first := show(24, 50, 750, "Annual report") +
		show(12, 50, 700, "The first line of the text is set in small type and its last word is di-") +
		show(12, 50, 685, "vided. The caf\\351 is open.") +
		show(12, 50, 650, "Look at") + show(12, 100, 650, "the site") + show(12, 150, 650, "for more.") +
		show(12, 50, 600, "Contents . . . . . . . . . . 7")
	second := show(16, 50, 750, "Second chapter") + show(12, 50, 700, "The end of it.")
	return fileOf(trailer, catalog, "<</Type/Pages/Kids[4 0 R 6 0 R]/Count 2>>", font,
		page+"/Contents 5 0 R/Annots["+annotation+"]>>", streamOf("", first),
		page+"/Contents 7 0 R>>", streamOf("", second),
		"<</Title(\\376\\377\\000G\\000r\\000\\366\\000\\337\\000e)>>")
}

func TestHTML(t *testing.T) {
	const body = "<h1>Annual report</h1>\n" +
		"The first line of the text is set in small type and its last word is divided. The café is open. " +
		"Look at <a href=\"https://a.test/?x=1&amp;y\">the site</a> for more. Contents 7 <br>\n" +
		"<h2>Second chapter</h2>\nThe end of it. <br>\n</main></body></html>\n"
	for name, c := range map[string]struct{ trailer, title string }{
		"title of its properties":  {"/Info 8 0 R", "Größe"},
		"title of its first lines": {"", "Annual report"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := HTML(report(c.trailer))
			if err != nil {
				t.Fatal(err)
			}
			want := `<!doctype html><html lang=""><head><title>` + c.title + "</title></head><body><main>\n" + body
			if diff := cmp.Diff(want, string(got.HTML)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUselessTitle(t *testing.T) {
	d := pdfDocument{title: "Microsoft Word - report final 2.doc", lines: []textLine{{"Small\r\n", 0, 100}, {"Large \r\n", 0, 200}, {"lines", 0, 200}, {"elsewhere", 1, 200}}}
	if got := d.name(100); got != "Large lines" {
		t.Errorf("title %q", got)
	}
}

func TestNoPDF(t *testing.T) {
	locked := "/Encrypt<</Filter/Standard/V 1/R 2/P -4/O(" + strings.Repeat("o", 32) + ")/U(" + strings.Repeat("u", 32) + ")>>/ID[(a)(b)]"
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":   {nil, "cannot read PDF: no PDF, or too broken (PDFium's error 3)"},
		"HTML":      {[]byte("<html>%PDF"), "cannot read PDF: no PDF, or too broken (PDFium's error 3)"},
		"encrypted": {report(locked), "cannot read PDF: it needs a password"},
		"too large": {make([]byte, MaxMemory), "cannot read PDF: it takes more memory than allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := HTML(c.data)
			if err == nil {
				t.Fatal("read")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// hostile are files that turn on their reader. None holds text.
func hostile() map[string][]byte {
	var zeros bytes.Buffer
	z := zlib.NewWriter(&zeros)
	_, _ = z.Write(make([]byte, MaxMemory+32<<20)) // into memory
	_ = z.Close()
	pages := "<</Type/Pages/Kids[4 0 R]/Count 1>>"
	return map[string][]byte{
		"pages of themselves": fileOf("", catalog, "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"),
		"pages beyond count":  fileOf("", catalog, "<</Type/Pages/Kids[]/Count 2000000000>>"),
		"form in itself": fileOf("", catalog, pages, font, "<</Type/Page/Parent 2 0 R/Resources<</XObject<</X 5 0 R>>>>/Contents 6 0 R>>",
			streamOf("/Subtype/Form/Resources<</XObject<</X 5 0 R>>>>", "/X Do"), streamOf("", "/X Do")),
		"stream that expands": fileOf("", catalog, pages, font, page+"/Contents 5 0 R>>", streamOf("/Filter/FlateDecode", zeros.String())),
		"nested arrays":       fileOf("", catalog, pages, font, page+"/Contents 5 0 R>>", streamOf("", strings.Repeat("[", 1<<20))),
		"stream of itself":    fileOf("", catalog, pages, font, page+"/Contents 5 0 R>>", "<</Length 5 0 R>>\nstream\nx\nendstream"),
		"cut off":             report("")[:600],
	}
}

func TestHostileFilesEnd(t *testing.T) {
	for name, data := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := HTML(data)
			if err == nil && strings.Contains(string(b.HTML), "Annual") {
				t.Errorf("read %s", b.HTML)
			}
		})
	}
}

func TestTimeEnds(t *testing.T) {
	e, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.convert(ctx, report("")); err == nil || err.Error() != "cannot read PDF: it takes more than 1m0s" {
		t.Errorf("error %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	data := report("")
	want, err := HTML(data)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if got, err := HTML(data); err != nil || !bytes.Equal(got.HTML, want.HTML) {
				t.Errorf("read %q, %v", got.HTML, err)
			}
		})
	}
	group.Wait()
}

func TestTheLibraryIsTheOneThatIsDocumented(t *testing.T) {
	text, err := os.ReadFile("pdf.go")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(library)
	if !strings.Contains(string(text), hex.EncodeToString(sum[:])) {
		t.Errorf("pdf.go does not name its hash %x", sum)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add(report("/Info 8 0 R"))
	for name, data := range hostile() {
		if name != "stream that expands" {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = HTML(data) })
}

func BenchmarkHTML(b *testing.B) {
	data := report("")
	if _, err := HTML(data); err != nil { // compiles the library
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := HTML(data); err != nil {
			b.Fatal(err)
		}
	}
}
