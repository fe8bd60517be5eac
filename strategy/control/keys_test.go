package control

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

func TestKeys(t *testing.T) {
	bucket := memblob.New()
	change := func(edit func(*Document)) Document {
		t.Helper()
		d, err := Change(t.Context(), bucket, func(d *Document) bool { edit(d); return true })
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	ann, bob := NewKey("ann", "secret of ann", []string{Search, Page}, 60, noon), NewKey("bob", "secret of bob", []string{Metrics}, 0, noon)
	for _, key := range []Key{ann, bob} {
		change(func(d *Document) {
			if err := d.AddKey(key); err != nil {
				t.Error(err)
			}
		})
	}
	found, _, err := Find(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	d := found.Document
	if diff := cmp.Diff(Keys{ann, bob}, d.KeyList()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for secret, want := range map[string]string{"secret of ann": "ann", "secret of bob": "bob", "": "", "secret of an": "", "ann": "", ann.Sum: ""} {
		if key, found := d.KeyList().Find(secret); key.Name != want || found != (want != "") {
			t.Errorf("%q is the key of %q", secret, key.Name)
		}
	}
	content, err := json.Marshal(d)
	if err != nil || strings.Contains(string(content), "secret of") {
		t.Errorf("the document shows a key: %s, %v", content, err)
	}
	if err := d.AddKey(NewKey("ann", "another", []string{Search}, 0, noon)); err == nil || !strings.Contains(err.Error(), "two keys are called ann") {
		t.Errorf("the same name again: %v", err)
	}
	if needed, err := d.NeedsKey(); !needed || err != nil {
		t.Errorf("a key is needed: %v, %v", needed, err)
	}
	d = change(func(d *Document) {
		if d.RemoveKey("eve") || !d.RemoveKey("ann") {
			t.Error("removed eve, or not ann")
		}
	})
	if needed, err := d.NeedsKey(); needed || err != nil {
		t.Errorf("a key is needed with only %v: %v", d.KeyList(), err)
	}
	if d = change(func(d *Document) { d.RemoveKey("bob") }); !cmp.Equal(d, Document{}) {
		t.Errorf("without keys: %+v", d)
	}
}

func TestWrongKeys(t *testing.T) {
	good := NewKey("a", "secret", []string{"a scope of a later program"}, 0, noon)
	for want, change := range map[string]func(*Key){
		"":                            func(*Key) {},
		"the name of a key is":        func(k *Key) { k.Name = "a b" },
		"has no SHA-256":              func(k *Key) { k.Sum = "secret" },
		"has no scope":                func(k *Key) { k.Scopes = nil },
		"may ask -1 times a minute":   func(k *Key) { k.PerMinute = -1 },
		"write 1 to 64 letters, digi": func(k *Key) { k.Name = "" },
	} {
		k := good
		change(&k)
		err := Document{Keys: &Keys{k}}.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", k, err, want)
		}
	}
}

// TestManyKeys checks that as many keys as are allowed can be stored.
func TestManyKeys(t *testing.T) {
	var d Document
	for i := range maxKeys {
		name := fmt.Sprintf("%064d", i)
		if err := d.AddKey(NewKey(name, name, Scopes, 1_000_000, noon)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Change(t.Context(), memblob.New(), func(old *Document) bool { *old = d; return true }); err != nil {
		t.Error(err)
	}
	if err := d.AddKey(NewKey("further", "further", Scopes, 0, noon)); err == nil || !strings.Contains(err.Error(), "201 keys, more than 200") {
		t.Errorf("one more: %v", err)
	}
}
