package markup

import (
	"strings"
	"testing"
)

func BenchmarkScanner(b *testing.B) {
	xml := []byte("<w:body>" + strings.Repeat(`<w:p w:rsidR="00A77B3E"><w:r><w:rPr><w:sz w:val="24"/></w:rPr><w:t xml:space="preserve">Some words of text </w:t></w:r></w:p>`, 1000) + "</w:body>")
	b.SetBytes(int64(len(xml)))
	b.ReportAllocs()
	for b.Loop() {
		for s := NewScanner(xml); s.Next(); {
		}
	}
}
