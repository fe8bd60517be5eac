package search

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// fuzzed returns an index for fuzz tests, and a query for it that asks for all that a leaf can answer.
func fuzzed(t testing.TB) (*Index, Query) {
	docs := []segment.Document{
		dated("http://a/1", "the red fox and the blue dog of a long query", "2026-01-31"),
		dated("http://a/2", "a red dog and a blue fox in another long text", "2026-02-01"),
		page("http://a/3", "foxes"),
	}
	return keyed(t, nil, docs[:1], docs[1:]), Query{Text: `latest red fox* blue dog "long"`, Size: 10, Facets: []string{Lang}, Fold: true}
}

// recorder is a leaf that records questions and answers.
type recorder struct {
	Leaf
	asked, answered *[][]byte
}

func (r recorder) Ask(ctx context.Context, a *Asked) (*Answer, error) {
	answer, err := r.Leaf.Ask(ctx, a)
	if err != nil {
		return nil, err
	}
	for to, value := range map[*[][]byte]any{r.asked: a, r.answered: answer} {
		content, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		*to = append(*to, content)
	}
	return answer, nil
}

// recorded returns the questions and answers of a search.
func recorded(t testing.TB) (asked, answered [][]byte) {
	ix, q := fuzzed(t)
	r := recorder{testLeaf{name: "leaf", parts: ix.parts, asked: new(atomic.Int64)}, &asked, &answered}
	if found := find(t, ix.WithLeaves([]Leaf{r}), q); found.Total != 2 || len(asked) != 3 {
		t.Fatalf("%d pages, %d questions", found.Total, len(asked))
	}
	return asked, answered
}

// FuzzAsked sends a leaf all kinds of questions. It must answer, or return an error.
func FuzzAsked(f *testing.F) {
	asked, _ := recorded(f)
	for _, content := range asked {
		f.Add(content)
	}
	ix, _ := fuzzed(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		var a Asked
		if json.Unmarshal(content, &a) != nil {
			return
		}
		if answer, err := ix.Answer(t.Context(), &a); (answer == nil) == (err == nil) {
			t.Errorf("answer %v, error %v", answer, err)
		}
	})
}

// liar is a leaf that answers the same at every step.
type liar struct{ Answer }

func (l liar) Name() string { return "liar" }

func (l liar) Ask(context.Context, *Asked) (*Answer, error) { return &l.Answer, nil }

// FuzzAnswer lets a leaf give all kinds of answers. The root must return a result or an error.
func FuzzAnswer(f *testing.F) {
	_, answered := recorded(f)
	for _, content := range answered {
		f.Add(content)
	}
	all := []byte("{")
	for i, content := range answered { // of the same field several times, the last one counts
		if i > 0 {
			all = append(all, ',')
		}
		all = append(all, content[1:len(content)-1]...)
	}
	f.Add(append(all, '}'))
	f.Add([]byte(`{"Expanded":[{"":1}]}`))
	ix, q := fuzzed(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		var l liar
		if json.Unmarshal(content, &l.Answer) != nil {
			return
		}
		_, _ = ix.WithLeaves([]Leaf{l}).Search(t.Context(), q)
	})
}
