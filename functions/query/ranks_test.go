package query

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Ranks are read with the segment, read again when they change, and missed by nobody when
// they are damaged.
func TestRanks(t *testing.T) {
	s := newStore(t, 1)
	s.publish(manual(2)...)
	var log bytes.Buffer
	e := s.logging(s.bucket, &log)
	look := func() opened {
		t.Helper()
		s.clock.advance(e.Age)
		if n := totalOf(t, e, "manual"); n != 2 {
			t.Errorf("%d pages found", n)
		}
		for _, o := range e.snapshots.last.Load().segments {
			return o
		}
		t.Fatal("no segment")
		return opened{}
	}
	rank := func(ranks ...segment.Rank) (key string) {
		t.Helper()
		p, err := partition.Open(t.Context(), s.bucket, 0, s.clock.Now)
		s.check(err)
		s.check(p.Commit(t.Context(), func(e *partition.Edit) error {
			_, err := e.SetRanks(t.Context(), map[string][]segment.Rank{e.Manifest().Segments[0].Key: ranks})
			return err
		}))
		return p.Manifest().Segments[0].Ranks.Key
	}
	first := look()
	if first.ranks != nil {
		t.Errorf("ranks %v before there are any", first.ranks)
	}
	rank(33, 50)
	ranked := look()
	if !slices.Equal(ranked.ranks, []segment.Rank{33, 50}) || ranked.segment != first.segment {
		t.Errorf("ranks %v, want those that were stored, of the segment that was opened", ranked.ranks)
	}
	if again := look(); &again.ranks[0] != &ranked.ranks[0] {
		t.Error("the same ranks are read twice")
	}
	key := rank(34, 51)
	s.check(s.bucket.Replace(t.Context(), key, []byte("no ranks, but as long")))
	if damaged := look(); damaged.ranks != nil || strings.Count(log.String(), key) != 1 {
		t.Errorf("ranks %v of a damaged overlay; log:\n%s", damaged.ranks, &log)
	}
	look()
	if strings.Count(log.String(), key) != 1 {
		t.Errorf("log, want one line:\n%s", &log)
	}
	s.commit(0, func(m *manifest.Manifest) error { m.Segments[0].Ranks = nil; return nil })
	if without := look(); without.ranks != nil || without.ranked != "" {
		t.Errorf("ranks %v when there are none", without.ranks)
	}
}
