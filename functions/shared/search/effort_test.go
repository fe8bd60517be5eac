package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// purse is an effort.Payer that adds up the effort. From a given call on, it refuses effort.
type purse struct {
	mu              sync.Mutex
	calls, refused  int // number of calls so far, and number of the first call that is refused; 0 if none is
	spent, expected int // sum of the effort spent, and greatest effort expected in one call
}

func (p *purse) Spend(_ context.Context, units int) error { return p.call(units, 0) }

func (p *purse) Expect(_ context.Context, units int) error { return p.call(0, units) }

func (p *purse) call(spent, expected int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent, p.expected = p.spent+spent, max(p.expected, expected)
	if p.calls++; p.refused > 0 && p.calls >= p.refused {
		return &effort.Refused{Sentence: "enough", Seconds: 1}
	}
	return nil
}

// numbered returns n pages. All have the words "the" and "of", and each has a few of a thousand other words.
func numbered(n int) (docs []segment.Document) {
	for i := range n {
		docs = append(docs, page(fmt.Sprintf("http://example.org/%d", i), fmt.Sprintf("the word%d of word%d %s", i%1000, i*7%1000, strings.Repeat("text ", i%10))))
	}
	return docs
}

func TestEffort(t *testing.T) {
	ix := indexOf(t, numbered(2000), numbered(100))
	for _, test := range []struct {
		query       Query
		least, most int // effort that is announced, spent or expected
	}{
		{Query{Text: "word5 word35", Size: 10, Fold: true}, 1000, 10_000},
		{Query{Text: "the of", Size: 10, Facets: []string{"site", "lang"}}, 1000, 20_000},
		{Query{Text: "the", Size: 100}, 30_000, 50_000},
		{Query{Text: "w* t* o* e*", Size: 10}, 4_000, 30_000},
		{Query{Text: "wort1~2 wrd12~2 word~2 xord7~2 tha~2 woord9~2 wodr8~2", Size: 10}, 10_000, 60_000},
		{Query{Text: `"the of"~30`, Size: 10}, 3_000, 20_000},
		{Query{Text: `"the of text"~30`, Size: 10}, 20_000, 100_000},
	} {
		var p purse
		if _, err := ix.Search(effort.With(t.Context(), &p), test.query); err != nil {
			t.Fatalf("%s: %v", test.query.Text, err)
		}
		if announced := max(p.spent, p.expected); announced < test.least || announced > test.most {
			t.Errorf("%s with %d hits: effort %d spent, %d expected, want from %d to %d", test.query.Text, test.query.Size, p.spent, p.expected, test.least, test.most)
		}
	}
}

// TestEffortRefused refuses effort at every step of searches, one step after the other.
func TestEffortRefused(t *testing.T) {
	ix := indexOf(t, numbered(300), numbered(20))
	for _, q := range []Query{
		{Text: `+"the of" word1* wort2~ text`, Size: 10, Fold: true, Facets: []string{"site"}, Explain: true},
		{Text: "-text", Size: 10},
	} {
		for refused := 1; ; refused++ {
			p := purse{refused: refused}
			_, err := ix.Search(effort.With(t.Context(), &p), q)
			if p.calls < refused && err == nil {
				if refused < 5 {
					t.Errorf("%s: only %d steps are announced", q.Text, refused-1)
				}
				break
			}
			if _, is := errors.AsType[*effort.Refused](err); !is {
				t.Fatalf("%s: the refusal of step %d leads to the error %v", q.Text, refused, err)
			}
		}
	}
}

// TestSpellingNotChecked searches for a mistyped word, and refuses effort from the first, second, third … step on.
// If only the steps of the correction are refused, the result must be the same, with a note in place of the
// correction.
func TestSpellingNotChecked(t *testing.T) {
	ix := indexOf(t, numbered(300))
	unchecked := 0
	for refused := 1; ; refused++ {
		p := purse{refused: refused}
		r, err := ix.Search(effort.With(t.Context(), &p), Query{Text: "tezt of", Size: 10})
		switch _, is := errors.AsType[*effort.Refused](err); {
		case p.calls < refused && err == nil:
			if r.Meant == nil || unchecked == 0 {
				t.Errorf("%d results without a correction; meant: %v", unchecked, r.Meant)
			}
			return
		case err == nil && r.Meant == nil && r.Total > 0 && slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "spelling") }):
			unchecked++
		case !is || unchecked > 0:
			t.Fatalf("the refusal of step %d leads to %+v, %v", refused, r, err)
		}
	}
}
