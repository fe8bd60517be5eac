package segment

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

// What is hidden leaves no trace: the rest is found with the scores that it
// has in an index of nothing else.
func TestWithout(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	docs := randomDocuments(random, 60)
	var rest []Document
	var hidden []uint32
	for i, d := range docs {
		if i%3 == 0 {
			hidden = append(hidden, uint32(i))
		} else {
			rest = append(rest, d)
		}
	}
	whole := indexOf(t, docs)
	masked, err := NewIndex([]*Segment{whole.segments[0].Without(hidden[:7]...).Without(hidden[7:]...)})
	if err != nil {
		t.Fatal(err)
	}
	q := Query{Text: "w0 w1 w2", Size: 100}
	if diff := cmp.Diff(scored(t, indexOf(t, rest), q), scored(t, masked, q)); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
	if got := find(t, whole, q).Total; got <= find(t, masked, q).Total {
		t.Errorf("the segment itself finds %d", got)
	}
	if _, found, err := masked.Lookup(docs[0].ID); found || err != nil {
		t.Errorf("a hidden document is looked up: %v, %v", found, err)
	}
	if _, found, err := masked.Lookup(docs[1].ID); !found || err != nil {
		t.Errorf("another is not: %v, %v", found, err)
	}
}

// A hidden version does not hide the one in another segment.
func TestHiddenVersion(t *testing.T) {
	newer := page("http://a/", "new")
	newer.Version = layout.Version{Epoch: 1, Token: 2}
	ix := indexOf(t, []Document{page("http://a/", "old")}, []Document{newer})
	masked, err := NewIndex([]*Segment{ix.segments[0], ix.segments[1].Without(0)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"http://a/"}, urls(t, masked, "old")); diff != "" {
		t.Error(diff)
	}
	if got := urls(t, masked, "new"); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}

func TestDistinct(t *testing.T) {
	for _, docs := range [][]Document{nil, {sample(), page("x", "x y z")}} {
		content, err := Build(docs)
		if err != nil {
			t.Fatal(err)
		}
		seen := [][]byte{content}
		for number := range uint64(3) {
			other := Distinct(content, number)
			for _, earlier := range seen {
				if bytes.Equal(other, earlier) {
					t.Errorf("number %d gives the same bytes as another", number)
				}
			}
			seen = append(seen, other)
			s, err := Open(other)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range docs {
				got, err := s.Document(i)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("document %d: %v (-want +got):\n%s", i, err, diff)
				}
			}
			ix, err := NewIndex([]*Segment{s})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(urls(t, indexOf(t, docs), "x"), urls(t, ix, "x")); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		}
	}
}
