package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// wordParts are the parts of which a vocabulary makes its words, the most frequent first.
var wordParts = strings.Fields("er in re ti on an te en de con ra al ri ta ing ma to ca pro si la ve com le ro lo ne " +
	"ni co mi li vi su be per ex ment pa di so tion mo po na ble ter ver pre ted sta bo gra tra ster ful ness " +
	"chi pla fer qua ous ight thr bru dge kno wri zy jo xi uk")

// unlimited is a vocabulary without an end: the longer a text is, the more different words it has, as in natural language.
// The frequency of the n-th word is proportional to
//
//	1/n       for the first 8,000 words, which make nine tenths of a text
//	1/n^1.8   for the others, so that ten times as much text has 3.6 times as many words
type unlimited struct {
	random *rand.Rand
	upTo   []float64 // for each of wordParts, the sum of its frequency and those of all parts before it
}

func newUnlimited(seed uint64) *unlimited {
	u := &unlimited{random: rand.New(rand.NewPCG(seed, 11))}
	sum := 0.0
	for i := range wordParts {
		sum += 1 / float64(i+8)
		u.upTo = append(u.upTo, sum)
	}
	return u
}

// rank returns the rank of the next word of a text, from 1.
func (u *unlimited) rank() uint64 {
	const frequent = 8000
	if u.random.Float64() < 0.9 {
		return uint64(math.Pow(frequent, u.random.Float64()))
	}
	return uint64(min(1e15, frequent*math.Pow(1-u.random.Float64(), -1/0.8)))
}

// word returns the word with the given rank. Rarer words are longer.
func (u *unlimited) word(rank uint64) string {
	random := rand.New(rand.NewPCG(rank, 5))
	var word strings.Builder
	for range 1 + int(math.Log10(float64(rank+8))/1.5+random.Float64()*1.5) {
		i, _ := slices.BinarySearch(u.upTo, random.Float64()*u.upTo[len(u.upTo)-1])
		word.WriteString(wordParts[i])
	}
	return word.String()
}

func (u *unlimited) text(words int) string {
	var out strings.Builder
	for range words {
		out.WriteString(u.word(u.rank()))
		out.WriteByte(' ')
	}
	return out.String()
}

// segment returns a segment of so many pages: 300 words each on average, with a title and up to six headings.
func (u *unlimited) segment(b *testing.B, documents int) []byte {
	builder := segment.NewBuilder(nil)
	for i := range documents {
		d := page(fmt.Sprintf("http://site%d.example/%d", i%200, i), u.text(100+u.random.IntN(400)))
		d.Site, d.Name = fmt.Sprintf("site%d.example", i%200), u.text(2+u.random.IntN(4))
		d.Title = d.Name
		for range u.random.IntN(7) {
			d.Headings = append(d.Headings, u.text(2+u.random.IntN(4)))
		}
		if err := builder.Add(&d, tokens(&d)); err != nil {
			b.Fatal(err)
		}
	}
	content, err := builder.Finish()
	if err != nil {
		b.Fatal(err)
	}
	return content
}

// BenchmarkDictionary measures queries of several kinds as an index grows: in one segment of 10,000 pages, in one of
// 100,000, and in ten of these, which are copies. The caches have the sizes that they have in a server by default.
//
//	cold-GETs, cold-KB   requests and bytes of a query when only the tails of the segments are known
//	p50-ms, cpu-ms       time of a query after all queries were made before, and processor time
//	held-MB              what these queries have left in the caches
func BenchmarkDictionary(b *testing.B) {
	contents := map[int][]byte{}
	for _, size := range []struct{ documents, segments int }{{10_000, 1}, {100_000, 1}, {100_000, 10}} {
		b.Run(fmt.Sprintf("%d×%d", size.segments, size.documents), func(b *testing.B) {
			u := newUnlimited(uint64(size.documents))
			if contents[size.documents] == nil {
				contents[size.documents] = u.segment(b, size.documents)
			}
			bucket := memblob.New()
			var refs []segment.Ref
			for i := range size.segments {
				refs = append(refs, putSegment(b, bucket, fmt.Sprint("segment", i), contents[size.documents]))
			}
			var words []string // of medium frequency and length
			for len(words) < 20 {
				if word := u.word(300 + u.random.Uint64N(6000)); 7 <= len(word) && len(word) <= 9 {
					words = append(words, word)
				}
			}
			for _, kind := range []struct {
				name string
				of   func(word string) string
			}{
				{"word", func(word string) string { return word }},
				{"phrase", func(word string) string { return `"` + word + " " + u.word(50) + `"` }},
				{"site", func(word string) string { return word + " site:site7.example" }},
				{"prefix", func(word string) string { return word[:4] + "*" }},
				{"edit", func(word string) string { return word + "~1" }},
				{"edits", func(word string) string { return word + "~2" }},
				{"mistyped", func(word string) string { return word[:3] + "x" + word[4:] }},
			} {
				b.Run(kind.name, func(b *testing.B) {
					benchDictionary(b, bucket, refs, words, func(ctx context.Context, ix *Index, word string) error {
						_, err := ix.Search(ctx, Query{Text: kind.of(word), Size: 10})
						return err
					})
				})
			}
			b.Run("suggest", func(b *testing.B) {
				benchDictionary(b, bucket, refs, words, func(ctx context.Context, ix *Index, word string) error {
					_, err := ix.Suggest(ctx, Suggesting{Text: word[:3], Size: 10})
					return err
				})
			})
		})
	}
}

// putSegment stores a segment under a key.
func putSegment(b *testing.B, bucket blob.Bucket, key string, content []byte) segment.Ref {
	tail, err := segment.TailOf(content)
	if err == nil {
		err = bucket.Create(b.Context(), key, content)
	}
	if err != nil {
		b.Fatal(err)
	}
	return segment.Ref{Key: key, Bytes: int64(len(content)), Tail: tail}
}

// benchDictionary measures queries for words. The function ask asks one.
func benchDictionary(b *testing.B, bucket blob.Bucket, refs []segment.Ref, words []string, ask func(context.Context, *Index, string) error) {
	const memory = 192 << 20
	open := func() (*Index, *rangecache.Cache) {
		cache, err := rangecache.New(meter.Bucket(bucket), rangecache.Options{Memory: memory})
		parts := make([]Part, len(refs))
		for i, ref := range refs {
			var failed error
			parts[i].Segment, failed = segment.Open(b.Context(), cache, ref)
			err = cmp.Or(err, failed)
		}
		ix, failed := New(parts, NewMemory(memory/8))
		if err = cmp.Or(err, failed); err != nil {
			b.Fatal(err)
		}
		return ix, cache
	}
	var requests, kilobytes []int64
	for _, word := range words[:5] {
		m := new(meter.Meter)
		ix, _ := open()
		if err := ask(meter.With(b.Context(), m), ix, word); err != nil {
			b.Fatal(err)
		}
		cost := m.Cost(meter.Prices{}, 0)
		requests, kilobytes = append(requests, cost.Requests), append(kilobytes, cost.Bytes/1000)
	}
	slices.Sort(requests)
	slices.Sort(kilobytes)

	ix, cache := open()
	for range 2 {
		for _, word := range words {
			if err := ask(b.Context(), ix, word); err != nil {
				b.Fatal(err)
			}
		}
	}
	var took []time.Duration
	before := processorTime(b)
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		if err := ask(b.Context(), ix, words[i%len(words)]); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	used := processorTime(b) - before
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(requests[2]), "cold-GETs")
	b.ReportMetric(float64(kilobytes[2]), "cold-KB")
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(used.Seconds()*1e3/float64(len(took)), "cpu-ms")
	b.ReportMetric(float64(cache.Stats().Memory+ix.memory.bytes)/1e6, "held-MB")
}

// processorTime returns the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
