package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

const (
	zipfDocuments  = 8000
	zipfVocabulary = 50_000
)

// zipf makes texts whose words are as frequent as those of natural language (Zipf's law): the n-th word
// is about 1/n as frequent as the first.
type zipf struct {
	random *rand.Rand
	words  []string
	upTo   []float64 // for each word, the sum of its frequency and those of all words before it
}

func newZipf(seed uint64) *zipf {
	z := &zipf{random: rand.New(rand.NewPCG(seed, 8))}
	sum := 0.0
	for n := range zipfVocabulary {
		word := ""
		for i := 7919 * (n + 7) % 512_000; len(word) < 4 || i > 0; i /= 80 { // 80 syllables
			word += "bcdfghklmnprstvw"[i%16:][:1] + "aeiou"[i/16%5:][:1]
		}
		z.words = append(z.words, word)
		sum += 1 / float64(n+2)
		z.upTo = append(z.upTo, sum)
	}
	return z
}

func (z *zipf) word() string {
	n, _ := slices.BinarySearch(z.upTo, z.random.Float64()*z.upTo[len(z.upTo)-1])
	return z.words[n]
}

// text returns a text with the given number of words. About every twelfth of them is one of the
// words in topics, so that these words are much more frequent in this text than in others.
func (z *zipf) text(words int, topics []string) string {
	var out strings.Builder
	for range words {
		word := z.word()
		if z.random.IntN(12) == 0 && len(topics) > 0 {
			word = topics[z.random.IntN(len(topics))]
		}
		out.WriteString(word)
		out.WriteString([]string{" ", " ", " ", " ", " ", ", ", ". "}[z.random.IntN(7)])
	}
	return out.String()
}

func (z *zipf) documents(n int) (docs []segment.Document) {
	for i := range n {
		var topics []string
		for range 3 + z.random.IntN(5) {
			topics = append(topics, z.words[20+int(math.Pow(float64(zipfVocabulary-21), z.random.Float64()))])
		}
		length := int(math.Exp(6.6 + 0.9*z.random.NormFloat64())) // 1,100 words a document
		d := page(fmt.Sprintf("http://site%d.example/%s/%d", i%20, topics[0], i), z.text(min(length, 20_000), topics))
		d.Title = z.text(2, topics) + topics[0]
		for range z.random.IntN(6) {
			d.Headings = append(d.Headings, z.text(3, topics))
		}
		docs = append(docs, d)
	}
	return docs
}

// queries returns n queries of two or three words. Each query has its words from one document. The
// most frequent words are left out, because nobody searches for them.
func (z *zipf) queries(docs []segment.Document, n int) (queries []string) {
	for range n {
		d := docs[z.random.IntN(len(docs))]
		words := strings.Fields(d.Title)
		query := []string{words[len(words)-1]}
		body := strings.Fields(d.Body)
		for wanted := 2 + z.random.IntN(2); len(query) < wanted; {
			word := strings.Trim(body[z.random.IntN(len(body))], ".,")
			if !slices.Contains(z.words[:100], word) {
				query = append(query, word)
			}
		}
		queries = append(queries, strings.Join(query, " "))
	}
	return queries
}

// zipfIndex returns an index of the invented corpus, and queries for it. Only the first call makes
// them.
var zipfIndex = sync.OnceValues(func() (*Index, []string) {
	z := newZipf(1)
	docs := z.documents(zipfDocuments)
	ix := indexOf(&testing.B{}, docs)
	ix.memory = NewMemory(64 << 20)
	return ix, z.queries(docs, 100)
})

func BenchmarkSearch(b *testing.B) {
	ix, queries := zipfIndex()
	for _, kind := range []struct {
		name string
		of   func(text string) Query
	}{
		{"words", func(text string) Query { return Query{Text: text, Size: 10} }},
		{"without hits", func(text string) Query { return Query{Text: text} }},
		{"all words", func(text string) Query { return Query{Text: "+" + strings.ReplaceAll(text, " ", " +"), Size: 10} }},
		{"phrase", func(text string) Query { return Query{Text: `"` + text + `"`, Size: 10} }},
		{"site", func(text string) Query { return Query{Text: text, Site: []string{"site3.example"}, Size: 10} }},
		{"prefix", func(text string) Query { return Query{Text: text[:4] + "*", Size: 10} }},
		{"fuzzy", func(text string) Query { return Query{Text: strings.Fields(text)[0] + "~", Size: 10} }},
		{"facets", func(text string) Query {
			return Query{Text: text, Facets: []string{Site, Lang, Type, Collection}, Size: 10}
		}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			var took []time.Duration
			for _, text := range queries {
				find(b, ix, kind.of(text))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				q := kind.of(queries[i%len(queries)])
				start := time.Now()
				if _, err := ix.Search(context.Background(), q); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e6, "p99-ms")
		})
	}
}
