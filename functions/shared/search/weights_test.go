package search

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

func TestWeights(t *testing.T) {
	w, err := ParseWeights(embedded)
	if err != nil {
		t.Fatal(err)
	}
	if w.AllWords != 1.5 || w.Title != 3 || w.Support != 0.8 {
		t.Errorf("weights.json says %+v, and the package's text something else", w)
	}
	content, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseWeights(content); err != nil || again != w {
		t.Errorf("%+v becomes %+v, %v", w, again, err)
	}
	for name := range w.All() {
		other := w
		*other.All()[name] += 0.125
		if other == w {
			t.Errorf("%s changes nothing", name)
		}
		content, err := json.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseWeights(content); other.Check() == nil && (err != nil || again != other) {
			t.Errorf("%s is not kept in JSON: %v", name, err)
		}
	}
}

func TestImpossibleWeights(t *testing.T) {
	for _, c := range []struct{ from, to, wants string }{
		{`"title": 3,`, ``, "title is missing"},
		{`"title"`, `"titel"`, `no weight "titel"`},
		{`"title": 3`, `"title": -3`, "title is -3"},
		{`"all_words": 1.5`, `"all_words": 0.5`, "at least 1"},
		{`"joined": 0.8`, `"joined": 1.5`, "at most 1"},
		{`{`, `[`, "cannot read weights"},
	} {
		if _, err := ParseWeights([]byte(strings.Replace(string(embedded), c.from, c.to, 1))); err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%s instead of %s: %v, want %q", c.to, c.from, err, c.wants)
		}
	}
}

// TestWithWeights checks that an index with other weights scores by these, and that the index from
// which it was made scores as before.
func TestWithWeights(t *testing.T) {
	d := page("http://a/", "fox and dog")
	d.Title = "fox"
	ix := indexOf(t, []segment.Document{d, page("http://b/", "dog"), page("http://c/", "cat")})
	score := func(ix *Index) float64 { return find(t, ix, Query{Text: "fox", Size: 1}).Hits[0].Score }
	w := Standard()
	w.Title = 0
	before := score(ix)
	if after := score(ix.WithWeights(w)); after >= before || score(ix) != before {
		t.Errorf("%v with a weight of titles, %v without, then %v", before, after, score(ix))
	}
}

func FuzzWeights(f *testing.F) {
	f.Add(embedded)
	f.Fuzz(func(t *testing.T, content []byte) {
		if w, err := ParseWeights(content); err == nil && w.Check() != nil {
			t.Errorf("%+v were taken", w)
		}
	})
}
