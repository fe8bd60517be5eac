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

// TestWeightsOfLeaves searches with other weights than the standard ones.
func TestWeightsOfLeaves(t *testing.T) {
	s := newStore(t, 3)
	s.Publish(querytest.Manual(9)...)
	weights := search.Standard()
	weights.Saturation *= 2
	one := s.engine(s.Bucket)
	root, leaves := s.withLeaves(s.Bucket)
	for _, e := range append(leaves, one, root) {
		e.Weights = &weights
	}
	q := search.Query{Text: "manual", Size: 9}
	if diff := cmp.Diff(answerOf(t, one, q), answerOf(t, root, q)); diff != "" {
		t.Errorf("(-alone +leaves)\n%s", diff)
	}
}

// TestCostOfLeaves compares the cost of a search with the requests of all processes.
func TestCostOfLeaves(t *testing.T) {
	s := newStore(t, 3)
	s.Publish(querytest.Manual(9)...)
	metered := countblob.New(meter.Bucket(s.Bucket))
	root, _ := s.withLeaves(metered)
	found, err := root.Search(t.Context(), Query{Query: search.Query{Text: "manual", Size: 5}, Cost: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := metered.Counts().Requests(); found.Cost.Requests != want || want < 4 || found.Cost.DependentSteps < 2 {
		t.Errorf("%+v, want %d requests in some steps", found.Cost, want)
	}
}

// counting is a leaf that counts the questions to it.
type counting struct {
	search.Leaf
	asked *int
}

func (c counting) Ask(ctx context.Context, a *search.Asked) (*search.Answer, error) {
	*c.asked++
	return c.Leaf.Ask(ctx, a)
}

// TestOtherBucket searches with a leaf that is on another bucket, so that it knows no segment. It must be left out
// after two questions, and the root must keep all segments.
func TestOtherBucket(t *testing.T) {
	s, other := newStore(t, 7), newStore(t, 1)
	s.Publish(querytest.Manual(30)...)
	root, _ := s.withLeaves(s.Bucket)
	asked := 0
	root.Leaves[1] = counting{near{"leaf 1", other.engine(other.Bucket)}, &asked}
	found := answerOf(t, root, search.Query{Text: "manual", Size: 30})
	const note = "1 of the 2 servers that search parts of the index did not answer: their pages are missing."
	if found.Total == 0 || found.Total == 30 || asked != 2 || !found.Partial || !slices.Contains(found.Notes, note) {
		t.Errorf("%d questions, %d found, partial %v, notes %q", asked, found.Total, found.Partial, found.Notes)
	}
	if missing := root.snapshots.last.Load().missing; len(missing) > 0 {
		t.Errorf("the root has left out %v", missing)
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
