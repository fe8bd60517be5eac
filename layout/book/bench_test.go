package book

import "testing"

func BenchmarkEncode(b *testing.B) {
	book := site(1, 1000)
	var size int
	for b.Loop() {
		content, err := Encode(book)
		if err != nil {
			b.Fatal(err)
		}
		size = len(content)
	}
	b.ReportMetric(float64(size)/1000, "bytes/page")
	b.ReportMetric(float64(b.N*(len(book.Outcomes)+len(book.Links)))/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.N*1000)/b.Elapsed().Seconds(), "pages/s")
}

func BenchmarkScan(b *testing.B) {
	content, err := Encode(site(1, 1000))
	if err != nil {
		b.Fatal(err)
	}
	rows := 0
	for b.Loop() {
		r, err := newReader("book", content, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range r.Outcomes(b.Context(), wholeSpace) {
			if err != nil {
				b.Fatal(err)
			}
			rows++
		}
		for _, err := range r.Links(b.Context(), wholeSpace) {
			if err != nil {
				b.Fatal(err)
			}
			rows++
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.N*1000)/b.Elapsed().Seconds(), "pages/s")
}
