package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// setVectors sets the term vector of each document. For this it builds a segment that has only this
// document, and takes the vector from there.
func (o *oracle) setVectors() {
	for i := range o.docs {
		d := &o.docs[i]
		b := segment.NewBuilder(nil)
		if err := b.Add(&d.Document, tokens(&d.Document)); err != nil {
			panic(err)
		}
		content, err := b.Finish()
		if err != nil {
			panic(err)
		}
		alone, err := segment.OpenBytes(content)
		if err != nil {
			panic(err)
		}
		vectors, err := alone.Vectors(context.Background(), []uint32{0})
		if err != nil {
			panic(err)
		}
		d.vector = vectors[0].Decode()
	}
}

// support adds a bonus to the score of each hit: 0.8 · doubt · Σ cosine · (score − lowest). The sum is over
// the four most similar other hits, without copies (cosine 0.7 or more). cosine is the similarity of such a
// hit, score is its score, and lowest is the lowest score of all hits.
func (o *oracle) support(hits []oracleHit, doubt float64) {
	vectors, having := make([]map[uint16]float64, len(hits)), map[uint16]float64{}
	for i, hit := range hits {
		d := &o.docs[slices.IndexFunc(o.docs, func(d oracleDoc) bool { return d.ID == hit.id })]
		vectors[i] = map[uint16]float64{}
		for _, t := range d.vector {
			vectors[i][t.Hash] = float64(t.Weight)
			having[t.Hash]++
		}
	}
	product := func(a, b map[uint16]float64) (sum float64) {
		for hash, n := range a {
			sum += n * b[hash] * math.Pow(math.Log(1+float64(len(hits))/having[hash]), 2)
		}
		return sum
	}
	gains := make([]float64, len(hits))
	for i, a := range vectors {
		var others [][2]float64 // cosine and score
		for j, b := range vectors {
			cosine := product(a, b) / math.Sqrt(max(1e-300, product(a, a)*product(b, b)))
			if i != j && cosine < 0.7 {
				others = append(others, [2]float64{cosine, hits[j].score - hits[len(hits)-1].score})
			}
		}
		slices.SortFunc(others, func(a, b [2]float64) int {
			if math.Abs(a[0]-b[0]) > 1e-12 {
				return cmp.Compare(b[0], a[0])
			}
			return cmp.Compare(b[1], a[1])
		})
		for _, other := range others[:min(4, len(others))] {
			gains[i] += 0.8 * doubt * other[0] * other[1]
		}
	}
	for i := range hits {
		hits[i].score += gains[i]
	}
}

// parsedLong reports whether a query counts as long, once words with the same terms are unified.
func parsedLong(p *plan) bool {
	p.unify()
	return p.long
}

// TestSupport checks that, of two pages that match a long query equally well, the one with similar
// matches comes first, and that similar matches do not count in a short query.
func TestSupport(t *testing.T) {
	var docs []segment.Document
	add := func(name, body string) {
		docs = append(docs, page("http://"+name, body))
	}
	const asked = "river delta flood control dams"
	add("alone", "river delta flood violins orchestras concertos symphonies conductor")
	add("among", "river delta flood sediment hydrology reservoirs embankment engineers")
	for i := range 3 {
		add(fmt.Sprint("similar", i), strings.Repeat("dams control ", 2)+"sediment hydrology reservoirs embankment engineers irrigation "+fmt.Sprintf("canal%d lock%d gates%d", i, i, i))
	}
	rankOf := func(text, name string) int { return slices.Index(urls(t, indexOf(t, docs), text), "http://"+name) }
	if a, b := rankOf(asked, "among"), rankOf(asked, "alone"); a < 0 || b < a {
		t.Errorf("the page with similar matches is hit %d, the other %d", a, b)
	}
	hits := find(t, indexOf(t, docs), Query{Text: asked, Size: 20, Explain: true}).Hits
	for _, hit := range hits {
		sum := 0.0
		for _, part := range hit.Explanation.Parts {
			sum += part.Value
		}
		if math.Abs(sum-hit.Score) > 1e-9 || math.Abs(hit.Explanation.Value-hit.Score) > 1e-9 {
			t.Errorf("%s: the parts are %v together, the score is %v", hit.URL, sum, hit.Score)
		}
	}
	short := find(t, indexOf(t, docs), Query{Text: "river delta flood control", Size: 20, Explain: true}).Hits
	for _, hit := range short {
		if slices.ContainsFunc(hit.Explanation.Parts, func(e Explanation) bool { return strings.HasPrefix(e.What, "support") }) {
			t.Errorf("%s is supported in a short query", hit.URL)
		}
	}
}

// TestCopiesDoNotSupport checks that four pages with the same text get no bonus for being similar to each
// other.
func TestCopiesDoNotSupport(t *testing.T) {
	const body = "river delta flood sediment hydrology reservoirs embankment engineers"
	docs := []segment.Document{page("http://other", "control dams violins orchestras")}
	for i := range 4 {
		docs = append(docs, page(fmt.Sprint("http://copy/", i), body))
	}
	for _, hit := range find(t, indexOf(t, docs), Query{Text: "river delta flood control dams", Size: 20, Explain: true}).Hits {
		if slices.ContainsFunc(hit.Explanation.Parts, func(e Explanation) bool { return strings.HasPrefix(e.What, "support") }) {
			t.Errorf("%s is supported by copies", hit.URL)
		}
	}
}

// TestSupportOfTies checks that the bonus for similar matches does not depend on how matches with
// equal scores are divided among segments.
func TestSupportOfTies(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	docs := randomDocuments(random, 120)
	for i := range docs {
		docs[i].Body += " zanzibar"
	}
	text := "zanzibar " + strings.Join(strings.Fields(docs[0].Body)[:6], " ")
	want := find(t, indexOf(t, docs), Query{Text: text, Size: 60}).Hits
	for range 5 {
		got := find(t, indexOf(t, divide(random, docs, 4)...), Query{Text: text, Size: 60}).Hits
		for i := range want {
			if got[i].ID != want[i].ID || math.Abs(got[i].Score-want[i].Score) > 1e-9 {
				t.Fatalf("hit %d is %s with %v, want %s with %v", i, got[i].URL, got[i].Score, want[i].URL, want[i].Score)
			}
		}
	}
}

// TestStopWords checks what stop words (such as what and you) do in queries. In a long query they add little
// to the score, even if they are rare in the index, and snippets do not mark them. In a short query they add
// to the score as other words do. But the bonus for two words near each other is lower if one of the two is
// a stop word. In a query of stop words alone, they are treated as other words.
func TestStopWords(t *testing.T) {
	docs := []segment.Document{page("http://chatty", "What you want from this limit design is what you wanted for missile structures.")}
	for i := range 20 {
		docs = append(docs, page(fmt.Sprint("http://other", i), fmt.Sprintf("The sieves of kind%d for prime numbers on parallel machines.", i)))
	}
	for i := range 4 {
		docs = append(docs, page(fmt.Sprint("http://formal", i), fmt.Sprintf("A text formatting system of kind%d for programs that print reports.", i)))
	}
	ix := indexOf(t, docs)
	const asked = "articles on text formatting, including what you see"
	equal := Standard()
	equal.StopWord = 1
	if first := find(t, ix.WithWeights(equal), Query{Text: asked, Size: 1}).Hits[0]; first.URL != "http://chatty" {
		t.Errorf("with equal weights the first hit is %s", first.URL)
	}
	hits := find(t, ix, Query{Text: asked, Size: 30}).Hits
	if hits[0].URL == "http://chatty" {
		t.Error("the page with rare stop words comes first")
	}
	for _, hit := range hits {
		for _, f := range hit.Snippet {
			if f.Match && analysis.StopWordsOf("en").Has(strings.ToLower(f.Text)) {
				t.Errorf("%s: %q is marked", hit.URL, f.Text)
			}
		}
	}
	for _, hit := range find(t, ix, Query{Text: "what is it that you do", Size: 1}).Hits {
		if !slices.ContainsFunc(hit.Snippet, func(f Fragment) bool { return f.Match }) {
			t.Errorf("%s: nothing is marked of a query of stop words", hit.URL)
		}
	}
	for text, alike := range map[string]bool{"what you": true, "what you want design": false, "you what* design": true, "you* what want from this": false} {
		got, want := find(t, ix, Query{Text: text, Size: 1}).Hits[0], find(t, ix.WithWeights(equal), Query{Text: text, Size: 1}).Hits[0]
		if (got.Score == want.Score) != alike {
			t.Errorf("%q: %s scores %v, with equal weights %v", text, got.URL, got.Score, want.Score)
		}
	}
}

// TestSpareStopWords checks that a page has all words of a long query even if it lacks stop words, but not if it lacks
// another word. In short queries, and in queries of stop words alone, a page must have them.
func TestSpareStopWords(t *testing.T) {
	ix := indexOf(t, []segment.Document{
		page("http://terse", "Sieves find prime numbers on machines."),
		page("http://chatty", "What do you think: how do I get prime numbers? You do what I do."),
		page("http://other", "What you do is how you do it, and this is that."),
	})
	for text, complete := range map[string][]string{
		"how do I get prime numbers":           {"http://chatty"},
		"what do you do for sieves of numbers": {"http://terse"},
		"what do sieves":                       nil,
		"what is it that you do":               {"http://other"},
	} {
		var got []string
		for _, hit := range find(t, ix, Query{Text: text, Size: 3, Explain: true}).Hits {
			if slices.ContainsFunc(hit.Explanation.Parts, func(e Explanation) bool { return strings.HasPrefix(e.What, "holds all words") }) {
				got = append(got, hit.URL)
			}
			if math.Abs(hit.Explanation.Value-hit.Score) > 1e-9 {
				t.Errorf("%q: the explanation of %s adds up to %v, want %v", text, hit.URL, hit.Explanation.Value, hit.Score)
			}
		}
		if !slices.Equal(got, complete) {
			t.Errorf("%q: pages with all words are %v, want %v", text, got, complete)
		}
	}
}

// TestSpareStopWordsCompete checks that a scan which passes over pages that cannot be among the best finds the same
// pages as one that looks at all, although pages without stop words may have all words of the query.
func TestSpareStopWordsCompete(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	words := strings.Fields("how do I what is the of sieve prime number machine parallel")
	var docs []segment.Document
	for i := range 900 {
		body := fmt.Sprint("filler", i%7)
		for range 1 + random.IntN(12) {
			body += " " + words[min(random.IntN(len(words)), random.IntN(len(words)))]
		}
		docs = append(docs, page(fmt.Sprint("http://a/", i), body))
	}
	ix := indexOf(t, docs[:450], docs[450:])
	pruning := *ix
	pruning.exactly = 0
	for _, query := range []string{
		"how do I sieve a prime number", "what is the number of the machine", "what is the sieve of a parallel machine how", "how do I do what I do", "prime number of the parallel machine http client",
	} {
		all, passed := find(t, ix, Query{Text: query, Size: 50}), find(t, &pruning, Query{Text: query, Size: 50})
		for i, hit := range all.Hits {
			if passed.Hits[i].URL != hit.URL || passed.Hits[i].Score != hit.Score {
				t.Fatalf("%s: hit %d is %s with %v, want %s with %v", query, i, passed.Hits[i].URL, passed.Hits[i].Score, hit.URL, hit.Score)
			}
		}
	}
}
