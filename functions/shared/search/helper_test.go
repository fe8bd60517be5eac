package search

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// page returns a document with the URL and the body.
func page(url, body string) segment.Document {
	return segment.Document{ID: layout.IdentityOf(url), URL: url, Body: body, Lang: "en", MIME: "text/html", Site: "example.org", Fetched: noon}
}

// dated returns a document with the URL, the body and a date of its own, such as 2026-01-31.
func dated(url, body, date string) segment.Document {
	d := page(url, body)
	var err error
	if d.Date, err = time.Parse(time.DateOnly, date); err != nil {
		panic(err)
	}
	return d
}

// headingGap is the distance between the positions of two headings.
const headingGap = 100

// tokens yields the tokens of a document that go into a segment of a test. It imitates the package
// segments, which makes the tokens outside of tests.
func tokens(d *segment.Document) iter.Seq[segment.Token] {
	return func(yield func(segment.Token) bool) {
		a := analysis.For(d.Lang)
		position := 0
		define := func(field int) bool { // names, with one word each (see package segments)
			more := true
			for _, e := range d.Entries {
				term := d.Body[e.Start : e.Start+e.Term]
				if (term == e.Fragment) == (field == segment.Headings) {
					position++
					a.Each(term, func(o analysis.Occurrence) bool {
						more = yield(segment.Token{Field: field, Term: segment.DefinitionTerm(o.Term), Position: uint32(position)})
						return more
					})
				}
			}
			return more
		}
		field := func(field int, texts ...string) bool {
			position = 0
			more := true
			for _, text := range texts {
				last := a.Each(text, func(o analysis.Occurrence) bool {
					more = yield(segment.Token{Field: field, Term: o.Term, Word: o.Word, Position: uint32(position + o.Position)})
					return more
				})
				position += last + headingGap
			}
			return more
		}
		address := strings.TrimPrefix(d.URL, "http://")
		if !field(segment.Title, d.Title) || !field(segment.Headings, d.Headings...) || !define(segment.Headings) || !field(segment.Address, address) {
			return
		}
		if address != d.URL && !strings.Contains(address, "/") { // a start page, with its host as a name
			a.Each(address, func(o analysis.Occurrence) bool {
				return yield(segment.Token{Field: segment.Address, Term: segment.NameTerm(o.Term), Position: uint32(position)})
			})
		}
		if !field(segment.Body, d.Body) || !define(segment.Body) {
			return
		}
		for i := range d.Images {
			image := &d.Images[i]
			for _, text := range []string{image.Alt, image.Caption, image.NameWords(), image.Around} {
				position += headingGap + a.Each(text, func(o analysis.Occurrence) bool {
					return yield(segment.Token{Field: segment.Body, Term: segment.ImageTerm(o.Term), Position: uint32(position + o.Position)})
				})
			}
		}
	}
}

// contentOf returns the bytes of a segment with the documents.
func contentOf(t testing.TB, docs []segment.Document) []byte {
	t.Helper()
	b := segment.NewBuilder(nil)
	for i := range docs {
		if err := b.Add(&docs[i], tokens(&docs[i])); err != nil {
			t.Fatal(err)
		}
	}
	content, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func segmentOf(t testing.TB, docs []segment.Document) *segment.Segment {
	t.Helper()
	s, err := segment.OpenBytes(contentOf(t, docs))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// indexOf builds a segment of each group of documents, and returns an index of these segments.
func indexOf(t testing.TB, groups ...[]segment.Document) *Index {
	t.Helper()
	return indexWithout(t, nil, groups...)
}

// indexWithout is like indexOf, but marks some documents as deleted: those whose identity (hash of
// the URL) is in the map dead.
func indexWithout(t testing.TB, dead map[layout.Identity]bool, groups ...[]segment.Document) *Index {
	t.Helper()
	var parts []Part
	for _, docs := range groups {
		p := Part{Segment: segmentOf(t, docs)}
		for i, d := range docs {
			if dead[d.ID] {
				if p.Dead == nil {
					p.Dead = roaring.New()
				}
				p.Dead.AddInt(i)
			}
		}
		parts = append(parts, p)
	}
	ix, err := New(parts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func find(t testing.TB, ix *Index, q Query) Result {
	t.Helper()
	result, err := ix.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("Search(%q): %v", q.Text, err)
	}
	return result
}

// urls returns the addresses of the best hundred hits.
func urls(t testing.TB, ix *Index, text string) []string {
	t.Helper()
	found := []string{}
	for _, hit := range find(t, ix, Query{Text: text, Size: 100}).Hits {
		found = append(found, hit.URL)
	}
	return found
}

// divide divides the documents, in random order, into n groups.
func divide(random *rand.Rand, docs []segment.Document, n int) [][]segment.Document {
	groups := make([][]segment.Document, n)
	for _, i := range random.Perm(len(docs)) {
		g := random.IntN(n)
		groups[g] = append(groups[g], docs[i])
	}
	return groups
}

// randomDocuments returns n documents of invented words, of which few are frequent.
func randomDocuments(random *rand.Rand, n int) (docs []segment.Document) {
	text := func(words int) string {
		var out []string
		for range words {
			out = append(out, randomWord(random))
		}
		return strings.Join(out, " ")
	}
	for i := range n {
		d := page(fmt.Sprintf("http://%s/%s/p%d", randomWord(random), randomWord(random), i), text(random.IntN(60)))
		if i%8 == 0 {
			d = page(fmt.Sprintf("http://%s %s p%d", randomWord(random), randomWord(random), i), d.Body)
		}
		d.Title = text(random.IntN(5))
		for range random.IntN(4) {
			d.Headings = append(d.Headings, text(1+random.IntN(3)))
		}
		d.Lang = []string{"en", "en", "de", "fr"}[random.IntN(4)]
		d.Site = fmt.Sprintf("site%d.example", random.IntN(3))
		d.MIME = []string{"text/html", "text/html; charset=utf-8", "application/pdf"}[random.IntN(3)]
		d.Collections = [][]string{nil, {"a"}, {"b"}, {"a", "b"}}[random.IntN(4)]
		if i%5 > 0 {
			d.Date = noon.AddDate(0, 0, random.IntN(100))
		}
		if first, _, _ := strings.Cut(d.Body, " "); i%3 > 0 && first != "" {
			d.Entries = []segment.Entry{{Term: len(first), End: len(d.Body), Fragment: []string{"of." + first, first}[i%3-1]}}
		}
		docs = append(docs, d)
	}
	return docs
}

// syllables are the syllables of the invented words. The last ones are endings that the analyzers of
// several languages take off.
var syllables = []string{"ba", "ne", "ti", "ko", "ru", "les", "ing", "en", "er", "s"}

func randomWord(random *rand.Rand) string {
	n := int(60 * random.Float64() * random.Float64() * random.Float64())
	word := syllables[n%5] + syllables[n/5%5]
	if n >= 25 || random.IntN(3) == 0 {
		word += syllables[5+(n/25+random.IntN(2))%5]
	}
	return word
}

// randomQuery returns a query of up to ten clauses.
func randomQuery(random *rand.Rand) Query {
	var clauses []string
	for range 1 + random.IntN(3)*random.IntN(4) {
		part := randomWord(random)
		switch random.IntN(12) {
		case 0, 1:
			part = `"` + part + " " + randomWord(random) + `"`
		case 2:
			part = fmt.Sprintf(`"%s %s %s"~%d`, part, randomWord(random), randomWord(random), random.IntN(5))
		case 3:
			part = part[:2+random.IntN(2)] + "*"
		case 4:
			part += "~"
		case 5:
			part += "~2"
		case 6:
			part += "." + randomWord(random)
		}
		clauses = append(clauses, []string{"", "", "", "", "+", "-"}[random.IntN(6)]+part)
	}
	q := Query{From: random.IntN(5), Size: random.IntN(50)}
	for _, condition := range []string{"site:site1.example", "lang:de", "lang:en", "collection:b", "type:pdf", "-site:site2.example", "after:2026-02", "before:2026-03-01"} {
		if random.IntN(20) == 0 {
			clauses = append(clauses, condition)
		}
	}
	if random.IntN(20) == 0 {
		q.Site = []string{"site0.example", "site1.example"}
	}
	q.Text = strings.Join(clauses, " ")
	return q
}

// segmentOfFile opens a segment of the test data of package segment, and counts what is read of it from then on.
func segmentOfFile(t testing.TB, file string) (*segment.Segment, *countedReads) {
	t.Helper()
	content, err := os.ReadFile("../../../layout/segment/testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	tail, err := segment.TailOf(content)
	if err != nil {
		t.Fatal(err)
	}
	counted := &countedReads{Source: segment.Bytes(content)}
	s, err := segment.Open(t.Context(), counted, segment.Ref{Key: "s", Bytes: int64(len(content)), Tail: tail})
	if err != nil {
		t.Fatal(err)
	}
	counted.ranges = 0
	return s, counted
}
