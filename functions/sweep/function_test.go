package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

func TestHandle(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	event := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: "{}"}}}
	if response, err := w.Handle(t.Context(), event); err != nil || len(response.BatchItemFailures) != 0 {
		t.Errorf("%+v, %v", response, err)
	}
	if sent := w.sender.Take(); !slices.ContainsFunc(sent, func(m functionstest.Message) bool { return m.Queue == task.Schedule }) {
		t.Errorf("sent %v", sent)
	}
	w.sender.Fail(errors.New("refused"))
	if response, err := w.Handle(t.Context(), event); err != nil || len(response.BatchItemFailures) != 1 {
		t.Errorf("%+v, %v; want the message to come again", response, err)
	}
}

// TestSweepWritesHintOfSettings: settings that a program without the hint has published, or whose publisher was
// killed, are in force for readers of the hint after the next sweep that checks the hint. The sweep checks it once an hour.
func TestSweepWritesHintOfSettings(t *testing.T) {
	w := newQuiet(t)
	w.run()
	inForce := &settings.Cache{Bucket: w.bucket, Now: w.Now}
	if _, err := inForce.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	functionstest.Put(t, w.bucket, layout.ControlKey(1), layout.Seal([]byte(`{"webhook":"https://example.org/"}`)))
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{0, ""}, {59 * time.Minute, ""}, {time.Minute, "https://example.org/"}} {
		w.clock.Advance(step.after)
		w.run()
		s, err := inForce.Get(t.Context())
		if err != nil || s.Control.Webhook != step.want {
			t.Errorf("after %v: webhook %q, %v; want %q", step.after, s.Control.Webhook, err, step.want)
		}
	}
}

// TestEachPartitionByItself sweeps a bucket of two storage partitions. The sweep must send itself a message for each
// partition, and must then list and delete in this partition alone, even if the other one cannot be read.
func TestEachPartitionByItself(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.run()
	if err := w.Run(t.Context(), task.Clean{}); err != nil {
		t.Fatal(err)
	}
	var own []string
	for _, m := range w.sender.Take() {
		if m.Queue == task.Sweep {
			own = append(own, m.Body)
		}
	}
	if diff := cmp.Diff([]string{`{"storage":0}`, `{"storage":1}`}, own); diff != "" {
		t.Fatalf("messages to the sweep (-want +got):\n%s", diff)
	}
	for p, body := range own {
		other := layout.Partition(1 - p).String()
		w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
			if strings.Contains(c.Key, "/"+other+"/") || c.Key == layout.HintKey(layout.Partition(1-p)) {
				t.Errorf("the sweep of partition %d: %s %s", p, c.Op, c.Key)
				return faultblob.Before
			}
			return faultblob.None
		})
		response, err := w.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{Body: body}}})
		if err != nil || len(response.BatchItemFailures) > 0 {
			t.Errorf("partition %d: %+v, %v", p, response, err)
		}
	}
}

// TestSweepWithoutHint: a program without the hint has published a takedown, and the hint cannot be written again.
// The sweep says so, and does what the takedown demands.
func TestSweepWithoutHint(t *testing.T) {
	w := newQuiet(t)
	sheet := judgment.Sheet{Judge: "ann", At: w.clock.Now(), Query: judgment.Query{Text: "one"}, Marks: []judgment.Mark{{URL: gone, Grade: 2}}}
	if err := judgment.Put(t.Context(), w.bucket, sheet); err != nil {
		t.Fatal(err)
	}
	old, err := w.bucket.Get(t.Context(), layout.SettingsHint, blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	w.forget(nil, gone)
	if err := w.bucket.Replace(t.Context(), layout.SettingsHint, old); err != nil {
		t.Fatal(err)
	}
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Replace && c.Key == layout.SettingsHint {
			return faultblob.Before
		}
		return faultblob.None
	})
	if err := w.Run(t.Context(), task.Clean{}); !errors.Is(err, blob.ErrRetryable) {
		t.Errorf("%v; want the error of the hint", err)
	}
	if left := functionstest.Keys(t, w.bucket, layout.Judgments); len(left) > 0 {
		t.Errorf("judgments of the forgotten page are left: %v", left)
	}
}

// TestSweepBesideNewerTakedowns: a newer program has published a takedown that can be taken back, with a field that
// this program does not know. Only that program can make it final; the sweep says so, and does all else.
func TestSweepBesideNewerTakedowns(t *testing.T) {
	w := newQuiet(t)
	w.run()
	newer := memblob.New()
	if _, err := takedown.Suspend(t.Context(), newer, w.clock.Now().Add(time.Hour), takedown.Site("secret.example", w.clock.Now())); err != nil {
		t.Fatal(err)
	}
	content, err := newer.Get(t.Context(), layout.TakedownKey(1), blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	object, _, err := layout.Unseal(content)
	if err != nil {
		t.Fatal(err)
	}
	functionstest.Put(t, w.bucket, layout.TakedownKey(1), layout.Seal([]byte(`{"why":"a new field",`+string(object)[1:])))
	w.clock.Advance(2 * time.Hour)
	if err := w.Run(t.Context(), task.Clean{}); err == nil || !strings.Contains(err.Error(), "cannot make takedowns final") {
		t.Errorf("%v; want that the takedowns cannot be made final", err)
	}
	sent := w.sender.Take()
	if !slices.ContainsFunc(sent, func(m functionstest.Message) bool { return m.Queue == task.Schedule }) {
		t.Errorf("the sweep sent nothing to schedule: %v", sent)
	}
}

// TestSweepBesideForeignObjects checks that objects which this program has not made stay in the
// bucket, and do not stop the sweep.
func TestSweepBesideForeignObjects(t *testing.T) {
	w := newQuiet(t)
	w.run()
	w.pack(0, 20, one+"a")
	foreign := []string{layout.ManifestPrefix(0) + "notes.txt", layout.OverlayPrefix(0) + "notes.txt"}
	for _, key := range foreign {
		functionstest.Put(t, w.bucket, key, []byte("notes"))
	}
	for range 20 {
		if err := w.bucket.Delete(t.Context(), layout.HintKey(0)); err != nil {
			t.Fatal(err)
		}
		w.run()
		w.clock.Advance(24 * time.Hour)
	}
	if w.manifest(0).Oldest < 2 {
		t.Error("no generation was forgotten")
	}
	if there := w.there(foreign...); len(there) != len(foreign) {
		t.Errorf("left are %q", there)
	}
}

// TestSweepBesideADamagedGeneration checks that the sweep commits and deletes nothing while the
// newest version of a manifest is damaged.
func TestSweepBesideADamagedGeneration(t *testing.T) {
	w := newQuiet(t)
	w.run()
	w.pack(0, 20, one+"a")
	newest := layout.ManifestKey(0, w.manifest(0).Generation)
	if err := w.bucket.Replace(t.Context(), newest, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.bucket.Delete(t.Context(), layout.HintKey(0)); err != nil {
		t.Fatal(err)
	}
	before := functionstest.Keys(t, w.bucket, layout.Packages)
	before = append(before, functionstest.Keys(t, w.bucket, layout.ManifestPrefix(0))...)
	w.clock.Advance(30 * 24 * time.Hour)
	if err := w.sweepAll(); !errors.Is(err, manifest.ErrDamaged) {
		t.Errorf("swept with %v", err)
	}
	if there := w.there(before...); len(there) != len(before) {
		t.Errorf("of %q are left %q", before, there)
	}
}

// TestCompact checks that a merged book has the outcomes (records of requests) and links of the
// books that it replaces, without superseded ones, and that no frontier is rebuilt because of it.
func TestCompact(t *testing.T) {
	w := newQuiet(t)
	w.run()
	for token := range uint64(8) {
		functionstest.Learn(t, w.bucket, 0, book.Book{
			Outcomes: functionstest.Outcomes(t, version(20+token), book.Failed, one+"same", fmt.Sprint(one, token)),
			Links:    []book.Link{functionstest.Link(t, one+"same", one+"target", 1)},
		})
	}
	before, built := w.manifest(0), w.frontier(0).Epoch
	w.run()
	m := w.manifest(0)
	got := w.stock(0)
	if len(m.Books) != 1 || m.Books[0].Outcomes != 9 || m.Books[0].Links != 1 || len(got.Outcomes) != 9 || len(got.Links) != 1 {
		t.Errorf("books %+v: %+v", m.Books, got)
	}
	if len(m.Condemned) != len(before.Books) || m.Learnt != before.Learnt {
		t.Errorf("condemned %+v, learnt %q", m.Condemned, m.Learnt)
	}
	if epoch := w.frontier(0).Epoch; epoch != built {
		t.Errorf("the frontier was built again, in epoch %d", epoch)
	}
	w.run()
	if again := w.manifest(0); again.Generation != m.Generation {
		t.Errorf("merged again: %+v", again.Books)
	}
}
