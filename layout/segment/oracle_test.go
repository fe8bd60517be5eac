package segment

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
)

// oracle finds and scores documents of plain words by looking at every one.
type oracle struct {
	docs []Document
	text [][fieldCount][][]string // of a document and field: its texts, in words
	mean [fieldCount]float64      // length of a field, where there is one
	idfs map[string]float64       // computed so far
}

func newOracle(docs []Document) *oracle {
	o := &oracle{docs: docs, idfs: map[string]float64{}}
	for _, d := range docs {
		var fields [fieldCount][][]string
		fields[title] = [][]string{strings.Fields(d.Title)}
		fields[address] = [][]string{strings.Split(d.URL, "/")}
		fields[body] = [][]string{strings.Fields(d.Body)}
		for _, heading := range d.Headings {
			fields[headings] = append(fields[headings], strings.Fields(heading))
		}
		o.text = append(o.text, fields)
	}
	for field := range fieldCount {
		documents := 0.0
		for doc := range docs {
			if length := o.length(doc, field); length > 0 {
				documents++
				o.mean[field] += length
			}
		}
		o.mean[field] /= documents
	}
	return o
}

// occurrences counts a phrase in a field.
func (o *oracle) occurrences(doc, field int, phrase []string) (n float64) {
	for _, words := range o.text[doc][field] {
		for i := 0; i+len(phrase) <= len(words); i++ {
			if slices.Equal(words[i:i+len(phrase)], phrase) {
				n++
			}
		}
	}
	return n
}

func (o *oracle) holds(doc int, phrase []string) bool {
	for field := range fieldCount {
		if o.occurrences(doc, field, phrase) > 0 {
			return true
		}
	}
	return false
}

func (o *oracle) length(doc, field int) (n float64) {
	for _, words := range o.text[doc][field] {
		n += float64(len(words))
	}
	return n
}

func (o *oracle) idf(word string) float64 {
	if idf, known := o.idfs[word]; known {
		return idf
	}
	var most float64
	for field := range fieldCount {
		n := 0.0
		for doc := range o.docs {
			if o.occurrences(doc, field, []string{word}) > 0 {
				n++
			}
		}
		most = max(most, n)
	}
	if most > 0 {
		o.idfs[word] = math.Log(1 + (float64(len(o.docs))-most+0.5)/(most+0.5))
	}
	return o.idfs[word]
}

func (o *oracle) bm25(doc int, phrase []string, weight float64) (score float64) {
	for field := range fieldCount {
		n := o.occurrences(doc, field, phrase)
		if n > 0 {
			relative := o.length(doc, field) / o.mean[field]
			score += fieldWeights[field] * weight * n * 2.2 / (n + 1.2*(0.25+0.75*relative))
		}
	}
	return score
}

// search returns the scores of the documents that match.
func (o *oracle) search(clauses []string) map[layout.Identity]float64 {
	var words, plain []string
	var must, not [][]string
	for _, clause := range clauses {
		sign := clause[:1]
		phrase := strings.Fields(strings.Trim(clause, `+-"`))
		if sign == "-" {
			not = append(not, phrase)
			continue
		}
		for _, word := range phrase {
			if !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
		if sign == "+" || sign == `"` {
			must = append(must, phrase)
		} else {
			plain = append(plain, phrase...)
		}
	}
	known := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return o.idf(w) == 0 })
	together := func(phrase []string) (sum float64) {
		for _, word := range phrase {
			if o.idf(word) == 0 {
				return 0
			}
			sum += o.idf(word)
		}
		return sum
	}
	scores := map[layout.Identity]float64{}
	for doc := range o.docs {
		score, held := 0.0, 0
		for _, word := range known {
			if o.holds(doc, []string{word}) {
				held++
				score += o.bm25(doc, []string{word}, o.idf(word))
			}
		}
		if held == len(known) && held > 1 {
			score *= allWords
		}
		if len(plain) == 2 || len(plain) == 3 {
			score += o.bm25(doc, plain, nearWeight*together(plain))
		}
		matches := held > 0
		for _, phrase := range must {
			matches = matches && o.holds(doc, phrase)
			if len(phrase) > 1 {
				score += o.bm25(doc, phrase, nearWeight*together(phrase))
			}
		}
		for _, phrase := range not {
			matches = matches && !o.holds(doc, phrase)
		}
		if matches {
			scores[o.docs[doc].ID] = score
		}
	}
	return scores
}

func TestSearchAgainstOracle(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 1))
		docs := randomDocuments(random, 40)
		docs = append(docs, randomDocuments(random, 25)...) // other versions of 25 addresses
		live := newOracle(liveOf(docs))
		one, ten := indexOf(t, docs), indexOf(t, divideStable(random, docs, 10)...)
		for range 20 {
			clauses := randomClauses(random)
			text := strings.Join(clauses, " ")
			want := live.search(clauses)
			for _, ix := range []*Index{one, ten} {
				got := find(t, ix, Query{Text: text, Size: 100})
				if got.Total != len(want) || len(got.Hits) != len(want) || !got.Exact {
					t.Fatalf("seed %d, %s: %d hits of %d, want %d", seed, text, len(got.Hits), got.Total, len(want))
				}
				for i, hit := range got.Hits {
					if score, matches := want[hit.ID]; !matches || math.Abs(score-hit.Score) > 1e-6 {
						t.Fatalf("seed %d, %s: %s scores %v, want %v (matches: %v)", seed, text, hit.URL, hit.Score, score, matches)
					}
					if i > 0 && hit.compare(got.Hits[i-1]) <= 0 {
						t.Fatalf("seed %d, %s: hit %d is out of order", seed, text, i)
					}
				}
			}
		}
	}
}

func (h Hit) compare(other Hit) int {
	return found{score: h.Score, id: h.ID}.compare(found{score: other.Score, id: other.ID})
}

// divideStable cuts the documents into n groups that keep their order, so that
// of equal versions the same one comes first.
func divideStable(random *rand.Rand, docs []Document, n int) [][]Document {
	groups := make([][]Document, n)
	at := 0
	for _, d := range docs {
		if at < n-1 && random.IntN(len(docs)) < n {
			at++
		}
		groups[at] = append(groups[at], d)
	}
	return groups
}
