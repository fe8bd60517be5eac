package message_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func letter() message.DeadLetter {
	return message.DeadLetter{Queue: "pack", Message: "id", Body: `{"storage":1}`, Reason: "no", At: noon, Receives: 12}
}

func TestDeadLetterComesBack(t *testing.T) {
	want := letter()
	content, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := message.DecodeDeadLetter(content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dead letter (-want +got):\n%s", diff)
	}
	if got, want := want.Key(), layout.DeadLetterKey("pack", layout.ContentHash([]byte(`{"storage":1}`))); got != want {
		t.Errorf("key %s, want %s", got, want)
	}
}

func TestDeadLetterIsNamedByWhatIsSent(t *testing.T) {
	d := letter()
	same := d
	same.Message, same.Reason, same.At = "other id", "other reason", noon.Add(time.Hour)
	if d.Key() != same.Key() {
		t.Errorf("the same body has the keys %s and %s", d.Key(), same.Key())
	}
	other := d
	other.Queue = "index"
	if d.Key() == other.Key() {
		t.Errorf("two queues share the key %s", d.Key())
	}
}

func TestDeadLetterCaps(t *testing.T) {
	long := letter()
	long.Body, long.Reason = strings.Repeat("\x01", message.MaxBody), strings.Repeat("é", 4000)
	content, err := long.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := message.DecodeDeadLetter(content)
	if err != nil || got.Body != long.Body || got.Reason != strings.Repeat("é", 2048) {
		t.Errorf("came back with %d bytes of body and %d of reason, %v", len(got.Body), len(got.Reason), err)
	}
	for name, change := range map[string]func(*message.DeadLetter){
		"body is too long": func(d *message.DeadLetter) { d.Body = strings.Repeat("x", message.MaxBody+1) },
		"no body":          func(d *message.DeadLetter) { d.Body = "" },
		"no queue":         func(d *message.DeadLetter) { d.Queue = "" },
		"queue is a path":  func(d *message.DeadLetter) { d.Queue = "../spool" },
	} {
		d := letter()
		change(&d)
		if content, err := d.Encode(); err == nil {
			t.Errorf("%s: encoded as %.100s", name, content)
		}
		content, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := message.DecodeDeadLetter(content); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
}

func FuzzDecodeDeadLetter(f *testing.F) {
	content, err := letter().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(`{"queue":"fetch","body":"\ud800","at":"2026-11-22T12:00:00+01:00"}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := message.DecodeDeadLetter(content)
		if err != nil {
			return
		}
		again, err := d.Encode()
		if err != nil {
			return // its time has no JSON form in UTC
		}
		back, err := message.DecodeDeadLetter(again)
		if err != nil || back.Key() != d.Key() || back.Body != d.Body {
			t.Fatalf("%+v comes back as %+v, %v", d, back, err)
		}
	})
}
