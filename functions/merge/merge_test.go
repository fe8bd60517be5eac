package merge

import (
	"errors"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring"
	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

func TestMerge(t *testing.T) {
	w := newWorld(t)
	w.index(1, 100)
	w.run()
	if m := w.manifest(); len(m.Segments) != 1 || len(m.Condemned) != 0 {
		t.Fatalf("one segment was merged: %+v", m.Segments)
	}
	for n := range 7 {
		w.index(1, 2*n, 2*n+1)
	}
	before := w.manifest()
	w.run()
	m := w.manifest()
	if len(m.Segments) != 1 || m.Segments[0].Documents != 15 || len(m.Segments[0].Parts) != 8 || m.Segments[0].Deletions != nil {
		t.Errorf("segments %+v", m.Segments)
	}
	for _, s := range before.Segments {
		if !m.IsCondemned(s.Key) {
			t.Errorf("%s is not condemned", s.Key)
		}
	}
	if diff := cmp.Diff(append([]string{stands(0, 1), stands(1, 1), stands(10, 1), stands(100, 1)}, allOf(2, 14, 1)...), w.live(), sorted); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
	if sent := w.sender.Take(); len(sent) != 0 {
		t.Errorf("sent %v", sent)
	}
	w.run()
	if again := w.manifest(); again.Generation != m.Generation {
		t.Errorf("merged again: %+v", again.Segments)
	}
}

// TestMergeAtEnd sends a task to merge at the end of a crawl. Two segments, which are too few for a tier, must become one.
func TestMergeAtEnd(t *testing.T) {
	w := newWorld(t)
	w.index(1, 0, 1)
	w.index(1, 2, 3)
	w.run()
	if n := len(w.manifest().Segments); n != 2 {
		t.Fatalf("%d segments during the crawl, want 2", n)
	}
	event := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "a", Body: `{"storage":0,"ended":true}`}}}
	if response, err := w.Handle(t.Context(), event); err != nil || len(response.BatchItemFailures) > 0 {
		t.Fatal(response, err)
	}
	if n := len(w.manifest().Segments); n != 1 {
		t.Errorf("%d segments after its end, want 1", n)
	}
	if diff := cmp.Diff(allOf(0, 4, 1), w.live(), sorted); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}

var sorted = cmp.Transformer("sorted", func(all []string) []string {
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
})

// TestDeadAreLeftOut merges segments with dead documents. The merged segment must have neither
// these nor packages without live documents.
func TestDeadAreLeftOut(t *testing.T) {
	w := newWorld(t)
	old := w.index(1, 0, 1, 2)
	for n := range 6 {
		w.index(2, n, 10+n)
	}
	w.index(3, 2)
	w.run()
	m := w.manifest()
	if len(m.Segments) != 7 {
		t.Fatalf("%d segments, want those of all packages but the first, of which nothing lives", len(m.Segments))
	}
	w.index(4, 1)
	w.run()
	m = w.manifest()
	if len(m.Segments) != 1 || m.Segments[0].Documents != 12 || m.Segments[0].Deletions != nil {
		t.Errorf("segments %+v", m.Segments)
	}
	if _, _, found := m.Segments[0].Part(m.Package(old.Key).ID); found {
		t.Error("a part of nothing is listed")
	}
	want := []string{stands(0, 2), stands(1, 4), stands(2, 3), stands(3, 2), stands(4, 2), stands(5, 2)}
	want = append(want, allOf(10, 16, 2)...)
	if diff := cmp.Diff(want, w.live(), sorted); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}

// TestWrittenAnew checks that a segment is written anew if more than a fifth of its documents are
// dead, or if it holds forgotten documents.
func TestWrittenAnew(t *testing.T) {
	w := newWorld(t)
	w.index(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	w.index(2, 4, 5)
	w.run()
	if m := w.manifest(); m.Segments[0].Dead() != 2 {
		t.Fatalf("a fifth is not yet enough: %+v", m.Segments)
	}
	w.index(3, 7)
	w.run()
	m := w.manifest()
	if m.Segments[0].Documents != 7 || m.Segments[0].Deletions != nil {
		t.Errorf("segments %+v", m.Segments)
	}
	key := m.Segments[0].Key
	functionstest.Edit(t, w.bucket, 0, func(e *partition.Edit) error {
		e.RewriteSegment(key)
		return e.Mask(t.Context(), map[string]*roaring.Bitmap{key: roaring.BitmapOf(3)})
	})
	w.run()
	if m := w.manifest(); m.Segments[0].Documents != 6 || m.Segments[0].Deletions != nil || m.Segments[0].Erase {
		t.Errorf("segments %+v", m.Segments)
	}
}

func TestHandle(t *testing.T) {
	w := newWorld(t)
	w.full()
	response, err := w.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "garbage", Body: "?"}, {MessageId: "good", Body: `{"storage":0}`}, {MessageId: "nothing there", Body: `{"storage":7}`},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]events.SQSBatchItemFailure{{ItemIdentifier: "garbage"}}, response.BatchItemFailures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if m := w.manifest(); len(m.Segments) != 1 {
		t.Errorf("%d segments", len(m.Segments))
	}
}

// TestMoreToDo checks that Run sends merge another task if there is more to merge. If Run cannot
// send this task, it must fail.
func TestMoreToDo(t *testing.T) {
	w := newWorld(t)
	w.Tiers.Most = 4
	w.full()
	w.run()
	if sent := w.sender.Take(); len(sent) != 0 {
		t.Errorf("sent %v", sent)
	}
	for n := range 12 {
		w.index(1, 100+n)
	}
	refused := errors.New("refused")
	w.sender.Fail(refused)
	if err := w.Run(t.Context(), task.Tiers{}); !errors.Is(err, refused) {
		t.Errorf("Run: %v", err)
	}
	w.sender.Fail(nil)
	w.run()
	want := []functionstest.Message{{Queue: task.Merge, Body: `{"storage":0}`}}
	if diff := cmp.Diff(want, w.sender.Take()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// TestRequests merges segments and counts the requests to the object store. These are allowed:
//
//	read    the manifest (twice)
//	        each input, which is small, with one request
//	        the set of dead documents of an input: before the merge and in the commit
//	write   the segment, the manifest, and the hint (a copy of the manifest)
func TestRequests(t *testing.T) {
	w := newWorld(t)
	w.full()
	w.index(2, 0)
	counted := countblob.New(w.bucket)
	w.Bucket = counted
	w.run()
	const inputs, overlays = 9, 1
	if got := counted.Counts(); got.Put != 3 || got.Get != 2*2+inputs+2*overlays || got.List != 0 {
		t.Errorf("requests %+v", got)
	}
	large := newWorld(t)
	large.full()
	large.Tiers.Least = 1
	counted = countblob.New(large.bucket)
	large.Bucket = counted
	large.run()
	if got := counted.Counts(); got.Get < 8*8 {
		t.Errorf("%+v for 8 segments, of which each must be read by ranges", got)
	}
}
