package merge

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// rank gives the documents of all segments the ranks 10, 11, and so on.
func (w *world) rank() { w.rankFrom(10) }

// rankFrom gives the documents of all segments consecutive ranks, beginning with the given one. It
// also gives each document an anchor (text of links to it): the word "anchor" and the rank.
func (w *world) rankFrom(next segment.Rank) {
	w.t.Helper()
	functionstest.Edit(w.t, w.bucket, 0, func(e *partition.Edit) error {
		all, anchors := make(map[string][]segment.Rank), make(map[string][]byte)
		for _, s := range e.Manifest().Segments {
			var documents []*segments.Page
			for range s.Documents {
				all[s.Key] = append(all[s.Key], next)
				documents = append(documents, &segments.Page{Document: segment.Document{Headings: []string{fmt.Sprint("anchor ", next)}}})
				next++
			}
			content, err := segments.Build(documents)
			if err != nil {
				return err
			}
			anchors[s.Key] = content
		}
		e.SetRanked("some books")
		if _, err := e.SetRanks(w.t.Context(), all); err != nil {
			return err
		}
		_, err := e.SetAnchors(w.t.Context(), anchors)
		return err
	})
}

// ranks returns the ranks of all live documents by URL.
func (w *world) ranks() map[string]segment.Rank {
	w.t.Helper()
	all := make(map[string]segment.Rank)
	for _, s := range w.manifest().Segments {
		ranks, err := partition.Ranks(w.t.Context(), w.bucket, &s)
		if err != nil {
			w.t.Fatal(err)
		}
		dead, err := partition.Dead(w.t.Context(), w.bucket, &s)
		if err != nil {
			w.t.Fatal(err)
		}
		for doc, rank := range ranks {
			stored, err := functionstest.Segment(w.t, w.bucket, s).Stored(w.t.Context(), []uint32{uint32(doc)})
			if err != nil {
				w.t.Fatal(err)
			}
			if dead.ContainsInt(doc) {
				continue
			}
			all[stored[0].URL] = rank
			if s.Anchors == nil {
				continue
			}
			anchors, err := partition.OpenAnchors(w.t.Context(), segment.Ranges{Bucket: w.bucket}, &s)
			if err != nil {
				w.t.Fatal(err)
			}
			named, err := anchors.Stored(w.t.Context(), []uint32{uint32(doc)})
			if want := fmt.Sprint("anchor ", rank); err != nil || rank != segment.NoRank && named[0].Headings[0] != want {
				w.t.Errorf("%s is named %q, %v, want %q", stored[0].URL, named[0].Headings, err, want)
			}
		}
	}
	return all
}

// TestRanksAreKept merges segments with ranks. The merged segment must have the ranks of its
// inputs, even if documents die or ranks change during the merge.
func TestRanksAreKept(t *testing.T) {
	for name, meanwhile := range map[string]func(w *world){
		"nothing":     nil,
		"deaths":      func(w *world) { w.index(3, 0, 5) },
		"other ranks": func(w *world) { w.rankFrom(40) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.full()
			w.index(2, 3, 8) // two documents are masked by that
			w.rank()
			want := w.ranks()
			if meanwhile != nil {
				w.onCommit(func() { meanwhile(w); want = w.ranks() })
			}
			w.run()
			if n := len(w.manifest().Segments); n > 2 {
				t.Fatalf("%d segments", n)
			}
			if diff := cmp.Diff(want, w.ranks()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again := name == "other ranks" // the anchors have changed since they were merged
			for _, s := range w.manifest().Segments {
				if s.Documents > 2 && (s.Anchors == nil) != again {
					t.Errorf("anchors %+v", s.Anchors)
				}
			}
			if got := w.manifest().Ranked; (got == "") != again {
				t.Errorf("ranked %q", got)
			}
		})
	}
}

// TestRanksAreMissing merges segments of which one never had ranks, or has lost them. The merged
// segment must keep the ranks of the others. The manifest must say that the function rank has to
// rank all documents again.
func TestRanksAreMissing(t *testing.T) {
	for name, harm := range map[string]func(w *world, m manifest.Manifest){
		"never made": func(w *world, m manifest.Manifest) {
			functionstest.Commit(w.t, w.bucket, 0, func(m *manifest.Manifest) { m.Segments[0].Ranks = nil })
		},
		"lost": func(w *world, m manifest.Manifest) {
			if err := w.bucket.Delete(w.t.Context(), m.Segments[0].Ranks.Key); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.full()
			w.rank()
			want := w.ranks()
			harm(w, w.manifest())
			want["http://a.example/0"], want["http://a.example/1"] = segment.NoRank, segment.NoRank
			w.run()
			if diff := cmp.Diff(want, w.ranks()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if m := w.manifest(); m.Ranked != "" || len(m.Segments) != 1 {
				t.Errorf("ranked %q, %d segments", m.Ranked, len(m.Segments))
			}
		})
	}
}

// TestRanksFailAnywhere lets each call of the object store fail in turn during a merge. After
// another run the merged segment must have the ranks and anchors of its inputs.
func TestRanksFailAnywhere(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		w := newWorld(t)
		w.Tiers.Tier = 3
		w.index(1, 0, 1)
		w.index(1, 2, 3)
		w.index(2, 3, 4)
		w.rank()
		want := w.ranks()
		w.decide = decide
		_ = w.Run(t.Context(), task.Tiers{})
		w.decide = nil
		w.run()
		if diff := cmp.Diff(want, w.ranks()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if m := w.manifest(); len(m.Segments) != 1 || m.Ranked != "some books" || m.Segments[0].Anchors == nil {
			t.Errorf("ranked %q, segments %+v", m.Ranked, m.Segments)
		}
	})
}
