//go:build !race

package pdf

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// fileOf returns a PDF file of the objects, which are numbered from 1; the first is the catalog.
// The parameter trailer has further entries of the file's trailer.
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
		"<</Title(\\376\\377\\000G\\000r\\000\\366\\000\\337\\000e)/CreationDate(D:20250101)/ModDate(D:20261126103000+01'00')>>")
}

func TestHTML(t *testing.T) {
	const body = "<h1>Annual report</h1>\n" +
		"The first line of the text is set in small type and its last word is divided. The café is open. " +
		"Look at <a href=\"https://a.test/?x=1&amp;y\">the site</a> for more. Contents 7 <br>\n" +
		"<h2>Second chapter</h2>\nThe end of it. <br>\n</main></body></html>\n"
	for name, c := range map[string]struct{ trailer, head string }{
		"title and date of its properties": {"/Info 8 0 R", `Größe</title><meta name="last-modified" content="20261126">`},
		"title of its first lines":         {"", "Annual report</title>"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := HTML(report(c.trailer))
			if err != nil {
				t.Fatal(err)
			}
			want := `<!doctype html><html lang=""><head><title>` + c.head + "</head><body><main>\n" + body
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

// deflated returns the content of a stream compressed by zlib, as the filter FlateDecode expects
// it.
func deflated(content []byte) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(content) // into memory
	_ = z.Close()
	return b.String()
}

// hostile returns files, by name, that attack their reader, such as by endless work or memory. No
// text can be read from any of them.
func hostile() map[string][]byte {
	const pages = "<</Type/Pages/Kids[4 0 R]/Count 1>>"
	var forms, tree []string
	for n := range 10 { // each shows the next one ten times
		forms = append(forms, streamOf(fmt.Sprintf("/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>", 6+n), strings.Repeat("/X Do ", 10)))
	}
	for n := range 5000 {
		tree = append(tree, fmt.Sprintf("<</Type/Pages/Parent %d 0 R/Kids[%d 0 R]/Count 1>>", n+1, n+3))
	}
	return map[string][]byte{
		"pages of themselves": fileOf("", catalog, "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"),
		"pages beyond count":  fileOf("", catalog, "<</Type/Pages/Kids[]/Count 2000000000>>"),
		"form in itself": fileOf("", catalog, pages, font, "<</Type/Page/Parent 2 0 R/Resources<</XObject<</X 5 0 R>>>>/Contents 6 0 R>>",
			streamOf("/Subtype/Form/Resources<</XObject<</X 5 0 R>>>>", "/X Do"), streamOf("", "/X Do")),
		"stream that expands": fileOf("", catalog, pages, font, page+"/Contents 5 0 R>>", streamOf("/Filter/FlateDecode", deflated(make([]byte, MaxMemory+32<<20)))),
		"forms in forms":      fileOf("", append([]string{catalog, pages, font, "<</Type/Page/Parent 2 0 R/Resources<</XObject<</X 5 0 R>>>>/Contents 5 0 R>>"}, forms...)...),
		"long content":        fileOf("", catalog, pages, font, page+"/Contents 5 0 R>>", streamOf("/Filter/FlateDecode", deflated(bytes.Repeat([]byte("q Q "), 12<<20)))),
		"long paths":          fileOf("", catalog, pages, font, page+"/Contents 5 0 R>>", streamOf("/Filter/FlateDecode", deflated(bytes.Repeat([]byte("1 1 m 2 2 l S "), 1<<20)))),
		"large image": fileOf("", catalog, pages, font, "<</Type/Page/Parent 2 0 R/Resources<</XObject<</I 6 0 R>>>>/Contents 5 0 R>>", streamOf("", strings.Repeat("/I Do ", 1000)),
			streamOf("/Subtype/Image/Width 30000/Height 30000/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode", deflated(make([]byte, 64<<20)))),
		"deep page tree":   fileOf("", append(append([]string{catalog}, tree...), "<</Type/Page/Parent 5001 0 R/MediaBox[0 0 1 1]>>")...),
		"nested arrays":    fileOf("", catalog, pages, font, page+"/Contents 5 0 R>>", streamOf("", strings.Repeat("[", 1<<20))),
		"stream of itself": fileOf("", catalog, pages, font, page+"/Contents 5 0 R>>", "<</Length 5 0 R>>\nstream\nx\nendstream"),
		"cut off":          report("")[:600],
	}
}

func TestHostileFilesEnd(t *testing.T) {
	e, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := e.convert(data, 1e9)
			if err == nil && strings.Contains(string(b.HTML), "Annual") {
				t.Errorf("read %s", b.HTML)
			}
			if endless := name == "long content" || name == "long paths" || name == "forms in forms"; endless && (err == nil || err.Error() != "cannot read PDF: it takes more than 1000 million instructions") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAllowance(t *testing.T) {
	for size, want := range map[int]int64{0: 10e9, 1000: 10.1e9, 1 << 20: 10e9 + 1<<20*100_000, 16 << 20: 200e9} {
		if got := allowance(size); got != want {
			t.Errorf("%d bytes: %d instructions, want %d", size, got, want)
		}
	}
}

// dense returns a PDF file of the given number of pages, each full of text.
func dense(pages int) []byte {
	kids := strings.TrimSpace(strings.Repeat("4 0 R ", pages))
	return fileOf("", catalog, fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids, pages), font, page+"/Contents 5 0 R>>",
		streamOf("", show(24, 50, 700, "Title")+strings.Repeat(show(12, 50, 650, "Words of a page that is full of them"), 100)))
}

func TestPagesBeforeTheEndAreKept(t *testing.T) {
	const allowed = 500e6
	got := converted(t, dense(100), allowed)
	pages := bytes.Count(got.HTML, []byte("<h1>Title</h1>"))
	want := []string{fmt.Sprintf("pages %d to 100, since it takes more than %d million instructions", pages+1, int(allowed/1e6))}
	if diff := cmp.Diff(want, got.Omitted); diff != "" || pages < 2 || pages > 98 {
		t.Errorf("kept %d pages; omitted (-want +got):\n%s", pages, diff)
	}
	if whole := converted(t, dense(pages), MaxInstructions); !bytes.Equal(whole.HTML, got.HTML) {
		t.Error("the pages are not those of a file that ends with them")
	}
}

func converted(t *testing.T, data []byte, instructions int64) markup.Page {
	t.Helper()
	e, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.convert(data, instructions)
	if err != nil {
		t.Error(err)
	}
	return p
}

func TestTheResultIsTheSameUnderLoad(t *testing.T) {
	const allowed = 300e6
	data := dense(100)
	want := converted(t, data, allowed)
	var busy, readers sync.WaitGroup
	var done atomic.Bool
	for range 2 * runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			for !done.Load() {
			}
		})
	}
	for range 4 {
		readers.Go(func() {
			if diff := cmp.Diff(want, converted(t, data, allowed)); diff != "" {
				t.Error(diff)
			}
		})
	}
	readers.Wait()
	done.Store(true)
	busy.Wait()
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
		if len(data) < 100<<10 && name != "long content" {
			f.Add(data)
		}
	}
	e, err := compiled()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = e.convert(data, 1e9) })
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
