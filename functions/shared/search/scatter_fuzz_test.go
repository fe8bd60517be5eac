package search

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
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
	asked    *[][]byte
	answered *[]*Answer
}

func (r recorder) Ask(ctx context.Context, a *Asked) (*Answer, error) {
	answer, err := r.Leaf.Ask(ctx, a)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(a)
	*r.asked, *r.answered = append(*r.asked, content), append(*r.answered, answer)
	return answer, err
}

// recorded returns the questions and answers of a search: one of each step.
func recorded(t testing.TB) (asked [][]byte, answered []*Answer) {
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

// FuzzAnswer lets a leaf give all kinds of answers. The root must return a result or an error. An answer that was
// decoded is encoded to one that is the same.
func FuzzAnswer(f *testing.F) {
	_, answered := recorded(f)
	all := *answered[2]
	all.Expanded, all.Totals, all.Plan = answered[0].Expanded, answered[1].Totals, answered[1].Plan
	other := Answer{Expanded: []map[string]uint64{{"": 1}}}
	for _, a := range append(answered, &all, &other) {
		f.Add(encoded(f, a))
	}
	ix, q := fuzzed(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		var l liar
		if l.UnmarshalBinary(content) != nil {
			return
		}
		var again Answer
		if err := again.UnmarshalBinary(encoded(t, &l.Answer)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l.Answer, again); diff != "" {
			t.Error(diff)
		}
		_, _ = ix.WithLeaves([]Leaf{l}).Search(t.Context(), q)
	})
}

func encoded(t testing.TB, a *Answer) []byte {
	t.Helper()
	content, err := a.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestWholeCandidate encodes and decodes all fields of a candidate: the literals are without names, so that a further
// field must be given here.
func TestWholeCandidate(t *testing.T) {
	vector := slices.Repeat([]byte{9}, segment.VectorSize)
	phrase := Occurrence{[postings.Fields]uint32{1, 1 << 31}, [postings.Fields]uint8{2, 255}, .3}
	want := Answer{Best: []Candidate{
		{1, 1 << 31, .1, .2, .3, .4, .5, -.6, -7, vector, &layout.Identity{8}, []Occurrence{phrase, {}}},
		{},
	}, Total: 2}
	var got Answer
	err := got.UnmarshalBinary(encoded(t, &want))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// TestCutAnswer decodes an answer of which bytes are missing, one with more bytes, and one of an earlier program.
func TestCutAnswer(t *testing.T) {
	_, answered := recorded(t)
	if c := answered[2].Best[0]; c.Vector == nil || c.Phrases == nil {
		t.Fatalf("the candidate lacks what may be encoded: %+v", c)
	}
	content := encoded(t, answered[2])
	all := [][]byte{append(slices.Clone(content), 0), []byte(`{"Total":1}`)}
	for n := range content {
		all = append(all, content[:n])
	}
	for _, bad := range all {
		if err := new(Answer).UnmarshalBinary(bad); !errors.Is(err, errUnreadable) {
			t.Errorf("%d of %d bytes: %v", len(bad), len(content), err)
		}
	}
}
