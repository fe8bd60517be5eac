package engine

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestAnchors finds pages by the texts of links to them (anchors). It also damages anchors in
// several ways: some damage is noticed when the anchors are opened, some only when their words are
// read. Then the log must say that anchors are missing, and pages must be found by their own
// texts.
func TestAnchors(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(2)...)
	var log bytes.Buffer
	e := s.logging(s.Bucket, &log)
	look := func() *segment.Segment {
		t.Helper()
		s.Clock.Advance(e.Age)
		if n := totalOf(t, e, "manual"); n != 2 {
			t.Errorf("%d pages found", n)
		}
		for _, o := range e.snapshots.last.Load().segments {
			return o.anchors
		}
		t.Fatal("no segment")
		return nil
	}
	name := func(documents int, as string) (key string, content []byte) {
		t.Helper()
		pages := make([]*segments.Page, documents)
		for i := range pages {
			pages[i] = &segments.Page{Document: segment.Document{ID: [16]byte{byte(i)}, Lang: "en"}}
		}
		pages[1].Headings = []string{as}
		content, err := segments.Build(pages)
		s.Check(err)
		p, err := partition.Open(t.Context(), s.Bucket, 0, s.Clock.Now)
		s.Check(err)
		s.Check(p.Commit(t.Context(), func(e *partition.Edit) error {
			_, err := e.SetAnchors(t.Context(), map[string][]byte{e.Manifest().Segments[0].Key: content})
			return err
		}))
		return p.Manifest().Segments[0].Anchors.Key, content
	}
	missed := func(key string) int {
		n := strings.Count(log.String(), "key="+key)
		if n > 0 && !strings.Contains(log.String(), "searched without its anchors") {
			t.Errorf("log:\n%s", &log)
		}
		return n
	}
	if look() != nil {
		t.Error("anchors before there are any")
	}
	name(2, "handbook")
	first := look()
	if n := totalOf(t, e, "handbook"); n != 1 || first == nil {
		t.Errorf("%d pages found by an anchor, want 1", n)
	}
	if look() != first {
		t.Error("the same anchors are opened twice")
	}

	mismatched, _ := name(3, "guide") // anchors of another segment
	once, again := look(), look()
	if once != nil || again != nil || missed(mismatched) != 1 {
		t.Errorf("log, want one line about %s:\n%s", mismatched, &log)
	}

	damaged, content := name(2, "companion")
	tail, err := segment.TailOf(content)
	s.Check(err)
	for at := 8; at < len(content)-int(tail); at++ { // bytes that are not read when the segment is opened
		content[at] ^= 0x55
	}
	s.Check(s.Bucket.Replace(t.Context(), damaged, content))
	s.Clock.Advance(e.Age)
	if totalOf(t, e, "companion") != 0 || look() != nil || missed(damaged) != 1 {
		t.Errorf("log, want one line about %s:\n%s", damaged, &log)
	}
	if n := totalOf(t, e, "manual"); n != 2 {
		t.Errorf("%d pages found without anchors", n)
	}

	deleted, _ := name(2, "primer")
	s.Check(s.Bucket.Delete(t.Context(), deleted))
	if look() != nil || missed(deleted) != 1 {
		t.Errorf("log, want one line about %s:\n%s", deleted, &log)
	}
}
