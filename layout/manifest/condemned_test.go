package manifest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

func TestCondemnedList(t *testing.T) {
	records := []Condemned{{Key: "a", At: start, Since: 7}, {Key: "b", At: start.Add(time.Hour), Since: 9}, {Key: "c", At: start, Since: 8}}
	stored, l, err := EncodeCondemned(records)
	if err != nil {
		t.Fatal(err)
	}
	want := CondemnedList{Bytes: int64(len(stored)), Records: 3, At: start.Add(time.Hour), Since: 9}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	l.Key = layout.OverlayKey(0, 9, layout.ContentHash(stored))
	got, err := l.Decode(stored)
	if diff := cmp.Diff(records, got); err != nil || diff != "" {
		t.Errorf("records, %v (-want +got):\n%s", err, diff)
	}
	other, _, err := EncodeCondemned(records[:2])
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"another": other, "cut": stored[:len(stored)-1], "empty": nil, "no list": compress(layout.Seal([]byte(`{"format":3}`)))} {
		if _, err := l.Decode(content); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	later := compress(layout.Seal([]byte(`{"condemnedFormat":2}`)))
	if _, err := l.Decode(later); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("a later format: %v", err)
	}
	m := Manifest{Oldest: 8, CondemnedLists: []CondemnedList{l}}
	at := start.Add(2 * time.Hour)
	if m.CollectableList(l, at, time.Hour) {
		t.Error("it may be deleted while generation 8 lists an object")
	}
	if !m.Erase() || m.Erase() || !m.CollectableList(m.CondemnedLists[0], at, time.Hour) || m.CollectableList(m.CondemnedLists[0], at, 2*time.Hour) {
		t.Errorf("lists %+v", m.CondemnedLists)
	}
}

// FuzzCondemnedList decodes arbitrary JSON as a list of condemned objects. What is accepted must be
// encoded and decoded again unchanged.
func FuzzCondemnedList(f *testing.F) {
	f.Add([]byte(`{"condemnedFormat":1,"condemned":[{"key":"a","at":"2026-11-21T22:00:00.123Z","since":7}]}`))
	f.Add([]byte(`{"condemnedFormat":1,"condemned":[{"key":"a","gone":null}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) < 2 {
			return
		}
		stored := compress(layout.Seal(content))
		l := CondemnedList{Key: layout.OverlayKey(0, 1, layout.ContentHash(stored)), Records: 1}
		records, err := l.Decode(stored)
		if err != nil {
			return
		}
		stored, l, err = EncodeCondemned(records)
		if err != nil {
			return // a time that cannot be written
		}
		l.Key = layout.OverlayKey(0, 1, layout.ContentHash(stored))
		got, err := l.Decode(stored)
		if diff := cmp.Diff(records, got); err != nil || diff != "" {
			t.Errorf("%v (-before +after):\n%s", err, diff)
		}
	})
}
