package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// near is a leaf in the process of the test.
type near struct {
	name string
	*Engine
}

func (n near) Name() string { return n.name }

func (n near) Ask(ctx context.Context, a *search.Asked) (*search.Answer, error) {
	return n.Answer(ctx, a)
}

// withLeaves returns an engine that has two leaves, and these.
func (s *store) withLeaves(bucket blob.Reader) (root *Engine, leaves []*Engine) {
	root = s.engine(bucket)
	for i := range 2 {
		leaf := s.engine(bucket)
		leaves = append(leaves, leaf)
		root.Leaves = append(root.Leaves, near{fmt.Sprint("leaf ", i), leaf})
	}
	return root, leaves
}

// answerOf returns what an engine finds, without the time that it took.
func answerOf(t *testing.T, e *Engine, q search.Query) Result {
	t.Helper()
	found, err := e.Search(t.Context(), Query{Query: q})
	if err != nil {
		t.Fatal(err)
	}
	found.Took = 0
	return found
}

// TestLeaves searches with and without leaves. Pages are added and replaced between the searches, while the
// snapshots of root and leaves are of different times.
func TestLeaves(t *testing.T) {
	s := newStore(t, 3)
	s.Publish(querytest.Manual(9)...)
	root, leaves := s.withLeaves(s.Bucket)
	q := search.Query{Text: "the manual chapter", Size: 20, Fold: true, Spread: true, Facets: []string{search.Site}}
	same := func(when string, pages int) {
		t.Helper()
		want, got := answerOf(t, s.engine(s.Bucket), q), answerOf(t, root, q)
		if diff := cmp.Diff(want, got); diff != "" || got.Total != pages {
			t.Errorf("%s: %d pages, want %d (-alone +leaves)\n%s", when, got.Total, pages, diff)
		}
	}
	same("at first", 9)
	s.Publish(querytest.Page{URL: "https://new.example/manual", MIME: "text/html", Data: "x", Title: "New manual", Body: "Chapter of the new manual.", Lang: "en"})
	s.Publish(querytest.Page{URL: "https://example1.org/manual", MIME: "text/html", Data: "x", Title: "Atlas", Body: "No more of it.", Lang: "en"})
	root.snapshots.outdate(root.snapshots.last.Load())
	same("the leaves have older manifests", 10)
	for _, leaf := range leaves {
		leaf.snapshots.outdate(leaf.snapshots.last.Load())
	}
	s.Clock.Advance(root.Age)
	same("all are new", 10)
}

// TestCostOfLeaves compares the cost of a search with the requests of all processes.
func TestCostOfLeaves(t *testing.T) {
	s := newStore(t, 3)
	s.Publish(querytest.Manual(9)...)
	metered := countblob.New(meter.Bucket(s.Bucket))
	root, _ := s.withLeaves(metered)
	answerOf(t, root, search.Query{}) // reads the manifests
	before := metered.Counts()
	found, err := root.Search(t.Context(), Query{Query: search.Query{Text: "manual", Size: 5}, Cost: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := metered.Counts().Requests() - before.Requests(); found.Cost.Requests != want || want < 4 || found.Cost.DependentSteps < 2 {
		t.Errorf("%+v, want %d requests in some steps", found.Cost, want)
	}
}

// TestUnknownSegment asks a leaf to search in a segment that no manifest lists.
func TestUnknownSegment(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(3)...)
	_, err := s.engine(s.Bucket).Answer(t.Context(), &search.Asked{Segments: []string{"segments/0000/none.seg"}, Query: search.Query{Text: "manual", Size: 10}})
	var of *search.Unreadable
	if !errors.As(err, &of) || of.Segment != "segments/0000/none.seg" {
		t.Errorf("got %v", err)
	}
}

// TestPastWithoutLeaves asks for a past moment: leaves know the present only.
func TestPastWithoutLeaves(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(3)...)
	root, _ := s.withLeaves(s.Bucket)
	root.Leaves = slices.Repeat([]search.Leaf{failingLeaf{}}, 2)
	if _, err := root.Search(t.Context(), Query{Query: search.Query{Text: "manual", Size: 10}}); !errors.Is(err, errFails) {
		t.Errorf("the present: got %v", err)
	}
	if found, err := root.Search(t.Context(), Query{Query: search.Query{Text: "manual", Size: 10}, AsOf: s.Clock.Now()}); err != nil || found.Total != 3 {
		t.Errorf("the past: %d pages, %v", found.Total, err)
	}
}

type failingLeaf struct{}

var errFails = errors.New("fails")

func (failingLeaf) Name() string { return "failing" }

func (failingLeaf) Ask(context.Context, *search.Asked) (*search.Answer, error) { return nil, errFails }
