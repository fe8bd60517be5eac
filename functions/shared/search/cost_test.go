package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// stored are segments in a bucket.
type stored struct {
	bucket  blob.Bucket
	refs    []segment.Ref
	anchors []segment.Ref // segments with the anchors (texts of links to pages); nil if there are none
}

func store(t *testing.T, groups ...[]segment.Document) (s stored) {
	t.Helper()
	s.bucket = memblob.New()
	s.refs = s.put(t, "segment", groups)
	return s
}

// put stores a segment of each group of documents.
func (s stored) put(t *testing.T, name string, groups [][]segment.Document) (refs []segment.Ref) {
	t.Helper()
	for i, docs := range groups {
		content := contentOf(t, docs)
		tail, err := segment.TailOf(content)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, segment.Ref{Key: fmt.Sprint(name, i), Bytes: int64(len(content)), Tail: tail})
		if err := s.bucket.Create(t.Context(), refs[i].Key, content); err != nil {
			t.Fatal(err)
		}
	}
	return refs
}

// steps returns how many dependent steps a search takes, and how many documents it finds. A step is a
// round of reads that needs the results of the round before. Before the search, only the tails of the
// segments have been read.
func (s stored) steps(t *testing.T, q Query) (steps int64, found int) {
	t.Helper()
	cache, err := rangecache.New(meter.Bucket(s.bucket), rangecache.Options{Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var parts []Part
	for i, ref := range s.refs {
		p := Part{}
		if p.Segment, err = segment.Open(t.Context(), cache, ref); err != nil {
			t.Fatal(err)
		}
		if s.anchors != nil {
			if p.Anchors, err = segment.Open(t.Context(), cache, s.anchors[i]); err != nil {
				t.Fatal(err)
			}
		}
		parts = append(parts, p)
	}
	ix, err := New(parts, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := new(meter.Meter)
	result, err := ix.Search(meter.With(t.Context(), m), q)
	if err != nil {
		t.Fatal(err)
	}
	return m.Cost(meter.Prices{}, 0).DependentSteps, result.Total
}

// TestSteps checks that queries usually take at most two steps, queries with a phrase in quotes usually
// three, and no query more than three. Queries that find few pages take a third step, which reads the words
// of the index: perhaps another query was meant. A step is a round of reads that needs the results of the round
// before. At the start, only the tails of the segments have been read.
func TestSteps(t *testing.T) {
	z := newZipf(2)
	docs := z.documents(200)
	groups := divide(rand.New(rand.NewPCG(1, 1)), docs, 3)
	segments, queries := store(t, groups...), z.queries(docs, racetest.Rounds(40, 10))
	anchors := make([][]segment.Document, len(groups))
	for i, of := range groups {
		for n := range of {
			anchors[i] = append(anchors[i], anchorsOf(&of[n], of[n].Title))
		}
	}
	anchored := segments
	anchored.anchors = segments.put(t, "anchors", anchors)
	for _, test := range []struct {
		name           string
		query          func(text string) Query
		usually, worst int64
	}{
		{"plain", func(text string) Query { return Query{Text: text, Size: 10} }, 2, 3},
		{"filters and facets", func(text string) Query {
			return Query{Text: text, Site: []string{"example.org"}, After: noon.AddDate(-1, 0, 0), Facets: []string{Lang, Type}, Size: 10}
		}, 2, 3},
		{"the second page", func(text string) Query { return Query{Text: text, From: 10, Size: 10} }, 2, 3},
		{"phrase", func(text string) Query { return Query{Text: `"` + text + `"`, Size: 10} }, 3, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, of := range []stored{segments, anchored} {
				var all []int64
				for _, text := range queries {
					steps, _ := of.steps(t, test.query(text))
					all = append(all, steps)
				}
				slices.Sort(all)
				if all[len(all)/2] > test.usually || all[len(all)-1] > test.worst {
					t.Errorf("%d steps, want %d usually and never more than %d (anchors: %v)", all, test.usually, test.worst, of.anchors != nil)
				}
			}
		})
	}
}

// TestStepsOfTies checks how many rounds of reads a search takes if matches with equal scores are on
// different pages of hits, so that their order decides which are shown. The search must take no further
// round for this order if these matches are few, and one more if they are many.
func TestStepsOfTies(t *testing.T) {
	for _, test := range []struct {
		documents int
		text      string
		size      int
		steps     int64
	}{
		{15, "fox", 10, 2}, {100, "fox", 10, 3}, {15, "red fox", 10, 2}, {100, "red fox", 10, 3},
	} {
		var docs []segment.Document
		for i := range test.documents {
			docs = append(docs, page(fmt.Sprint(i), "the red fox jumps"))
		}
		segments := store(t, docs, []segment.Document{page("dog", "the dog barks")})
		steps, found := segments.steps(t, Query{Text: test.text, Size: test.size})
		if found != test.documents || steps > test.steps {
			t.Errorf("%d documents, %s: %d found in %d steps, want %d", test.documents, test.text, found, steps, test.steps)
		}
	}
}
