package control

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func full() Document {
	return Document{
		Pause:   &Pause{Since: noon, Until: noon.Add(time.Hour), By: Limit, Reason: "the money of the day is spent"},
		Limits:  Limits{StorageBytes: 1, RequestsPerDay: 2, USDPerDay: 2.5},
		Webhook: "https://example.org/alerts?key=1",
	}
}

func TestChange(t *testing.T) {
	bucket := memblob.New()
	if d, _, err := store.Newest(t.Context(), bucket); err != nil || !cmp.Equal(d, Document{}) {
		t.Fatalf("of nothing: %+v, %v", d, err)
	}
	set := func(d *Document) bool { *d = full(); return true }
	if d, err := Change(t.Context(), bucket, set); err != nil || !cmp.Equal(d, full()) {
		t.Fatalf("changed: %+v, %v", d, err)
	}
	// A change that returns false changes nothing, even if it has modified the document.
	d, err := Change(t.Context(), bucket, func(d *Document) bool { d.Webhook = ""; return false })
	if err != nil || !cmp.Equal(d, full()) {
		t.Errorf("unchanged: %+v, %v", d, err)
	}
	resume := func(d *Document) bool { d.Pause = nil; return true }
	want := full()
	want.Pause = nil
	if d, err := Change(t.Context(), bucket, resume); err != nil || !cmp.Equal(d, want) {
		t.Errorf("resumed: %+v, %v", d, err)
	}
	if d, _, err := store.Newest(t.Context(), bucket); err != nil || !cmp.Equal(d, want) {
		t.Errorf("loaded: %+v, %v", d, err)
	}
	spoil := func(d *Document) bool { d.Webhook = "somewhere"; return true }
	if _, err := Change(t.Context(), bucket, spoil); err == nil || !strings.Contains(err.Error(), `webhook is "somewhere"; write a web address`) {
		t.Errorf("an invalid change: %v", err)
	}
}

// TestChangesMeet calls Change several times concurrently, each time for another field. All changes
// must take effect.
func TestChangesMeet(t *testing.T) {
	bucket := memblob.New()
	var all sync.WaitGroup
	for _, change := range []func(*Document){
		func(d *Document) { d.Pause = full().Pause },
		func(d *Document) { d.Limits.StorageBytes = full().Limits.StorageBytes },
		func(d *Document) { d.Limits.RequestsPerDay = full().Limits.RequestsPerDay },
		func(d *Document) { d.Limits.USDPerDay = full().Limits.USDPerDay },
		func(d *Document) { d.Webhook = full().Webhook },
	} {
		all.Go(func() {
			if _, err := Change(t.Context(), bucket, func(d *Document) bool { change(d); return true }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if d, _, err := store.Newest(t.Context(), bucket); err != nil || !cmp.Equal(d, full()) {
		t.Errorf("%+v, %v; want all changes", d, err)
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		want   string // "" for a valid document
		change func(*Document)
	}{
		{"", func(*Document) {}},
		{"", func(d *Document) { *d = Document{} }},
		{"", func(d *Document) { d.Webhook = "http://127.0.0.1:8080" }},
		{"", func(d *Document) { d.Pause = &Pause{By: Operator, Reason: "to sleep"} }},
		{"a limit is negative; write 0 for none, or more", func(d *Document) { d.Limits.StorageBytes = -1 }},
		{"a limit is negative", func(d *Document) { d.Limits.RequestsPerDay = -1 }},
		{"a limit is negative", func(d *Document) { d.Limits.USDPerDay = -0.01 }},
		{`pause by "me"`, func(d *Document) { d.Pause.By = "me" }},
		{"and a reason", func(d *Document) { d.Pause.Reason = "" }},
		{"write a web address such as", func(d *Document) { d.Webhook = "ftp://example.org/" }},
		{"write a web address such as", func(d *Document) { d.Webhook = "https://" }},
		{"write a web address such as", func(d *Document) { d.Webhook = "https://a b/" }},
	} {
		d := full()
		test.change(&d)
		err := d.Validate()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", d, err, test.want)
		}
	}
}

func TestPaused(t *testing.T) {
	forever, until := full(), full()
	forever.Pause.Until = time.Time{}
	for _, test := range []struct {
		document Document
		at       time.Duration
		want     bool
	}{
		{Document{}, 0, false},
		{forever, -time.Hour, true}, {forever, 1e6 * time.Hour, true},
		{until, 0, true}, {until, time.Hour - 1, true}, {until, time.Hour, false},
	} {
		if got := test.document.Paused(noon.Add(test.at)); (got != nil) != test.want || got != nil && got.Reason == "" {
			t.Errorf("%+v after %v: %+v, want %v", test.document.Pause, test.at, got, test.want)
		}
	}
}

// Controls without a seal are older than this program, so that the name of an unknown field is damaged.
func TestUnknownField(t *testing.T) {
	bucket := memblob.New()
	if err := bucket.Create(t.Context(), layout.ControlKey(1), []byte(`{"limits":{"euros_a_day":1}}`)); err != nil {
		t.Fatal(err)
	}
	if d, _, err := store.Newest(t.Context(), bucket); err == nil || !strings.Contains(err.Error(), `unknown field "limits.euros_a_day"`) {
		t.Errorf("%+v, %v; want the field to be refused", d, err)
	}
}

// FuzzControl proves that a document that was read is valid, and is the same after writing and
// reading it again.
func FuzzControl(f *testing.F) {
	content, err := json.Marshal(full())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(`{"pause":null,"limits":{},"webhook":""}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := numbered.Decode[Document](content)
		if err != nil {
			return
		}
		again, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if d2, err := numbered.Decode[Document](again); err != nil || !cmp.Equal(d, d2) {
			t.Fatalf("decoded %+v, again %+v, %v", d, d2, err)
		}
	})
}

// TestFormerLimits: limits with the field names of format 2 ("storage_bytes") can still be read.
func TestFormerLimits(t *testing.T) {
	got, err := numbered.Decode[Document]([]byte(`{"limits":{"storage_bytes":5,"requests_a_day":6,"usd_a_day":0.5}}`))
	if want := (Limits{5, 6, 0.5}); err != nil || got.Limits != want {
		t.Errorf("%+v, %v; want %+v", got.Limits, err, want)
	}
	if _, err := numbered.Decode[Document]([]byte(`{"limits":{"storage":5,"more":6}}`)); err == nil {
		t.Error("an unknown limit was read")
	}
}
