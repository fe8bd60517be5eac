package analysis

import (
	"strings"
	"testing"
)

// BenchmarkEach analyses text whose words are all cached.
func BenchmarkEach(b *testing.B) {
	for _, name := range []string{"en", "de", "ru", "vi", "zh", "ja", "ar", "th"} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(fixtures[name]+"\n", 100)
			a := For(name)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				a.Each(text, func(Occurrence) bool { return true })
			}
		})
	}
}

// BenchmarkQuery analyses a query in four languages.
func BenchmarkQuery(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Query("running in the mountains", analyzersOf("en", "de", "fr", ""))
	}
}
