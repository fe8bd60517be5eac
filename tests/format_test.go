package tests

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The crawler reads not only HTML, but also PDF, DOCX and plain text, and follows the links in
// them.
func TestFormats(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, func(int, []string) http.Handler {
		return host{
			"/":           {status: http.StatusOK, contentType: "text/html", body: "<title>Papers</title>" + link("paper.pdf") + link("letter") + link("notes.txt")},
			"/paper.pdf":  {status: http.StatusOK, contentType: "application/pdf", body: pdfOf("A dromedary crosses the desert.")},
			"/letter":     {status: http.StatusOK, contentType: "application/octet-stream", body: docxOf(t, "The dromedary of the letter drinks.")},
			"/notes.txt":  {status: http.StatusOK, contentType: "text/plain; charset=iso-8859-1", body: "A dromedary caf\xe9."},
			"/robots.txt": {status: http.StatusNotFound, contentType: "text/plain"},
		}
	})
	p := newPlace(t)
	p.crawl(s.origins[0])
	p.verify()
	want := []string{s.origins[0] + "/letter", s.origins[0] + "/notes.txt", s.origins[0] + "/paper.pdf"}
	if diff := cmp.Diff(want, p.search("dromedary")); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	for query, want := range map[string]string{"desert type:application/pdf": "/paper.pdf", "café": "/notes.txt"} {
		if diff := cmp.Diff([]string{s.origins[0] + want}, p.search("+"+query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

// pdfOf returns a PDF of one page with a line of text.
func pdfOf(text string) string {
	content := fmt.Sprintf("BT /F1 24 Tf 72 700 Td (%s) Tj ET", text)
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, object := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	} {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, table)
	return b.String()
}

// docxOf returns a DOCX document with one paragraph.
func docxOf(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, part := range []struct{ name, content string }{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>` + text + `</w:t></w:r></w:p></w:body></w:document>`},
	} {
		file, err := w.Create(part.name)
		if err == nil {
			_, err = io.WriteString(file, part.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
