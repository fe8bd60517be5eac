package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestExplanationsAddUp checks that the value of every node is the sum of its parts, and that the
// root's value is the score.
func TestExplanationsAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	docs := randomDocuments(random, 200)
	groups := divide(random, docs, 3)
	ix := withAnchors(t, indexOf(t, groups...), randomAnchors(random, docs), groups...)
	explained := 0
	for range racetest.Rounds(200, 20) {
		q := randomQuery(random)
		q.Explain = true
		for _, hit := range find(t, ix, q).Hits {
			explained++
			if hit.Explanation == nil || math.Abs(hit.Explanation.Value-hit.Score) > 1e-9 {
				t.Fatalf("%s: %s scores %v, explained by %+v", q.Text, hit.URL, hit.Score, hit.Explanation)
			}
			checkSums(t, hit.Explanation)
		}
	}
	if explained < racetest.Rounds(100, 10) {
		t.Errorf("only %d hits", explained)
	}
}

func checkSums(t *testing.T, e *Explanation) {
	t.Helper()
	sum := 0.0
	for i := range e.Parts {
		sum += e.Parts[i].Value
		checkSums(t, &e.Parts[i])
	}
	if len(e.Parts) > 0 && math.Abs(sum-e.Value) > 1e-9 {
		t.Errorf("%s: the parts of %v make %v", e.What, e.Value, sum)
	}
}

func TestExplanation(t *testing.T) {
	d := page("http://a/", "the red fox and the red dog")
	d.Title = "Fox"
	ix := indexOf(t, []segment.Document{d, page("http://b/", "red")})
	var lines []string
	var write func(e *Explanation, indent string)
	write = func(e *Explanation, indent string) {
		lines = append(lines, fmt.Sprintf("%s%.3f %s", indent, e.Value, e.What))
		for i := range e.Parts {
			write(&e.Parts[i], indent+"  ")
		}
	}
	write(find(t, ix, Query{Text: "red fox", Size: 1, Explain: true}).Hits[0].Explanation, "")
	want := []string{
		"3.181 score",
		`  0.218 word "red": 2 of 2 documents in en, the query's language with probability 1, idf 0.1823`,
		"    0.218 in body × 1: 2 times, length 7, 1.379 of a frequency of 1.379",
		`  1.232 word "fox": 1 of 2 documents in en, the query's language with probability 1, idf 0.6931`,
		"    1.002 in title × 3: 1 times, length 1, 3 of a frequency of 3.69",
		"    0.230 in body × 1: 1 times, length 7, 0.6897 of a frequency of 3.69",
		"  0.725 holds all words: 0.5 × their sum",
		"  0.435 title that the query names",
		"  0.571 nearness of the words",
		`    0.414 "red fox" in this order`,
		"      0.414 in body × 1: 1 times, length 7, 0.6897 of a frequency of 0.6897",
		`    0.157 "red fox" at most 6 words from that`,
		"      0.157 in body × 1: 2 times, length 7, 1.379 of a frequency of 1.379",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
}
