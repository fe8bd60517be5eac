package segment

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// tokensOf is a simple analyzer: it yields the words between spaces, in lower case and without an s at
// the end. Headings lie ten positions apart.
func tokensOf(d *Document) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		text := func(field int, position uint32, s string) uint32 {
			for _, word := range strings.Fields(s) {
				lower := strings.ToLower(word)
				t := Token{Field: field, Term: strings.TrimSuffix(lower, "s"), Word: lower, Position: position}
				if t.Term == "" {
					t.Term = lower
				}
				if word != lower {
					t.Hits = postings.Capitals
				}
				if field == Address {
					t.Word = ""
				}
				if !yield(t) {
					return 0
				}
				position++
			}
			return position
		}
		text(Title, 0, d.Title)
		position := uint32(0)
		for _, heading := range d.Headings {
			position = text(Headings, position, heading) + 10
		}
		text(Address, 0, strings.NewReplacer("/", " ", ":", " ", ".", " ").Replace(d.URL))
		text(Body, 0, d.Body)
	}
}

// generate returns n documents, each with a few hundred common and rare words.
func generate(n int, seed uint64) []Document {
	random := rand.New(rand.NewPCG(seed, 1))
	sentence := func(most int) string {
		words := make([]string, random.IntN(most)+1)
		for i := range words {
			words[i] = fmt.Sprintf("w%d", int(random.ExpFloat64()*random.ExpFloat64()*40))
			if random.IntN(4) == 0 {
				words[i] = strings.ToUpper(words[i]) + "s"
			}
		}
		return strings.Join(words, " ")
	}
	docs := make([]Document, n)
	for i := range docs {
		d := &docs[i]
		d.Site = fmt.Sprintf("site%d.example", i*3/n)
		d.URL = fmt.Sprintf("https://%s/%d/%d", d.Site, seed, i)
		d.ID = layout.IdentityOf(d.URL)
		d.Version = layout.Version{Epoch: seed, Token: uint64(i / 7)}
		d.Title = sentence(6)
		for range random.IntN(3) {
			d.Headings = append(d.Headings, sentence(4))
		}
		d.Body = sentence(250)
		d.Lang = []string{"en", "de", ""}[random.IntN(3)]
		d.MIME = "text/html"
		d.Collections = [][]string{nil, {"docs"}, {"docs", "news"}}[random.IntN(3)]
		d.Fetched = time.UnixMilli(1_700_000_000_000 + random.Int64N(1e9)).UTC()
		d.Package = fmt.Sprintf("packages/0000/2_3_%d.spf", seed)
		d.Offset, d.Length = int64(i)*5000, int64(random.IntN(5000))
		d.TitleHash, d.TextHash, d.Simhash = random.Uint64(), random.Uint64(), random.Uint64()
		for j := range d.Sketch {
			d.Sketch[j] = uint16(random.Uint32())
		}
	}
	return docs
}

var analysis = map[string]uint32{"en": 3, "de": 2, "fr": 9}

func mustBuild(t testing.TB, docs []Document, flush int) []byte {
	t.Helper()
	return buildWith(t, false, docs, flush)
}

func buildWith(t testing.TB, vectorless bool, docs []Document, flush int) []byte {
	t.Helper()
	b := NewBuilder(analysis)
	b.columns.vectorless = vectorless
	if flush > 0 {
		b.runText = flush
	}
	for i := range docs {
		if err := b.Add(&docs[i], tokensOf(&docs[i])); err != nil {
			t.Fatal(err)
		}
	}
	content, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(content); err != nil {
		t.Fatalf("what was built: %v", err)
	}
	return content
}

func mustOpen(t testing.TB, content []byte) *Segment {
	t.Helper()
	s, err := OpenBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mustMerge returns the merged segment, whose content can be used until the test ends.
func mustMerge(t testing.TB, inputs ...Input) []byte {
	t.Helper()
	content, free, err := Merge(t.Context(), inputs, 1<<30, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free)
	if err := Check(content); err != nil {
		t.Fatalf("what was merged: %v", err)
	}
	return content
}

// occurrence is a posting with its positions.
type occurrence struct {
	Posting   postings.Posting
	Positions []uint32
}

// invert computes, in a simple way, what a segment of the documents must contain: the
// postings of each term, and the number of documents of each word.
func invert(docs []Document) (terms map[string][]occurrence, words map[string]uint64) {
	terms, words = map[string][]occurrence{}, map[string]uint64{}
	for i := range docs {
		var lengths [postings.Fields]uint32
		here, seen := map[string]*occurrence{}, map[string]bool{}
		for t := range tokensOf(&docs[i]) {
			o := here[t.Term]
			if o == nil {
				o = &occurrence{Posting: postings.Posting{Doc: uint32(i)}}
				here[t.Term] = o
			}
			o.Posting.Freq[t.Field]++
			o.Posting.Hits |= t.Hits
			o.Positions = append(o.Positions, t.Position)
			lengths[t.Field]++
			if t.Word != "" && !seen[t.Word] {
				seen[t.Word] = true
				words[t.Word]++
			}
		}
		for term, o := range here {
			for f, n := range o.Posting.Freq {
				if n > 0 {
					o.Posting.Length[f] = postings.LengthCode(lengths[f])
				}
			}
			terms[term] = append(terms[term], *o)
		}
	}
	return terms, words
}

// occurrences reads all postings and positions of a term, as a query would.
func occurrences(t testing.TB, s *Segment, term *Term) []occurrence {
	t.Helper()
	var all []occurrence
	it := term.List.Iterator()
	for doc := it.Next(); doc != postings.NoMore; doc = it.Next() {
		freq, length, hits := it.Payload()
		offset, size := it.PositionBlock()
		blocks, err := s.ReadPositions(t.Context(), []Positions{{term, offset, size}})
		if err != nil {
			t.Fatal(err)
		}
		positions, err := it.Positions(blocks[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		p := postings.Posting{Doc: doc, Freq: *freq, Length: *length, Hits: hits}
		for f, n := range p.Freq {
			if n == 0 {
				p.Length[f] = 0 // it has no meaning
			}
		}
		all = append(all, occurrence{p, positions})
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return all
}

// wordsOf reads all words of a segment, and returns the number of documents of each word.
func wordsOf(t testing.TB, s *Segment) map[string]uint64 {
	t.Helper()
	all, err := s.Words(t.Context(), Beginning(""))
	if err != nil {
		t.Fatal(err)
	}
	return inSet(t, all, Beginning(""))
}

// inSet returns the words of a set, with the number of documents of each.
func inSet(t testing.TB, read *Words, set WordSet) map[string]uint64 {
	t.Helper()
	words := map[string]uint64{}
	err := read.Each(set, func(word []byte, documents uint64) bool {
		words[string(word)] = documents
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// counting is a Source that counts its reads, their ranges and the bytes of these.
type counting struct {
	Source
	reads, ranges int
	bytes         int64
}

func (c *counting) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	c.reads++
	c.ranges += len(ranges)
	for _, r := range ranges {
		c.bytes += r.Length
	}
	return c.Source.Read(ctx, key, ranges)
}

// without returns the documents that are not dead.
func without(docs []Document, dead *roaring.Bitmap) []Document {
	var live []Document
	for i, d := range docs {
		if !dead.Contains(uint32(i)) {
			live = append(live, d)
		}
	}
	return live
}

// stripped returns documents as they are stored, without names and fingerprints.
func stripped(docs []Document) []Document {
	docs = slices.Clone(docs)
	for i := range docs {
		d := &docs[i]
		d.Name, d.TitleHash, d.TextHash, d.Simhash, d.Sketch = "", 0, 0, 0, Sketch{}
	}
	return docs
}

// guides is a cache of guides, by segment and number of the block.
type guides map[string]map[int]*Guide

func (g guides) Guides(segment string, blocks []int) []*Guide {
	cached := make([]*Guide, len(blocks))
	for i, b := range blocks {
		cached[i] = g[segment][b]
	}
	return cached
}

func (g guides) PutGuide(segment string, block int, guide *Guide) {
	if g[segment] == nil {
		g[segment] = make(map[int]*Guide)
	}
	g[segment][block] = guide
}
