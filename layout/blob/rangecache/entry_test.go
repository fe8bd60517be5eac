package rangecache

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

var page = rangeID{"segments/0/a.seg", blob.Range{Offset: 3, Length: 5}}

// written writes the entry of one range (the variable page) to a file, and returns the file's path
// and content.
func written(t *testing.T) (path string, content []byte) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, nameOf("b", page).String())
	if err := writeEntry(dir, path, headerOf("b", page, []byte("hello")), []byte("hello")); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, content
}

// An entry's file has the bytes that the package's documentation describes, and can be read.
func TestEntry(t *testing.T) {
	path, file := written(t)
	want := magic + "\x72\x34\x42\x70" +
		"\x00\x00\x00\x01" + "\x00\x00\x00\x10" +
		"\x00\x00\x00\x00\x00\x00\x00\x03" + "\x00\x00\x00\x00\x00\x00\x00\x05" +
		"\x00\x00\x00\x00\x00\x00\x00\x05" + "b" + "segments/0/a.seg" + "hello"
	if diff := cmp.Diff([]byte(want), file); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	content, err := readEntry(path, "b", page, 1<<20)
	if string(content) != "hello" || err != nil {
		t.Errorf("got %q, %v", content, err)
	}
	if name, ok := parseName(filepath.Base(path)); !ok || name != nameOf("b", page) {
		t.Errorf("the name %s is read as %v, %v", filepath.Base(path), name, ok)
	}
	if _, err := readEntry(path+"0", "b", page, 1<<20); !errors.Is(err, os.ErrNotExist) || errors.Is(err, errDamaged) {
		t.Errorf("an absent file: %v", err)
	}
}

// Each changed, missing or additional byte of an entry's file is noticed.
func TestEntryDamaged(t *testing.T) {
	path, file := written(t)
	check := func(what string, changed []byte) {
		t.Helper()
		if err := os.Remove(path); err != nil { // removing the file is faster than truncating it, which waits for the disk
			t.Fatal(err)
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if content, err := readEntry(path, "b", page, 1<<20); !errors.Is(err, errDamaged) {
			t.Errorf("%s: got %q, %v", what, content, err)
		}
	}
	for i := range file {
		for _, flip := range []byte{1, 0x80, 0xff} {
			changed := append([]byte(nil), file...)
			changed[i] ^= flip
			check("flipped", changed)
		}
		check("cut", file[:i])
	}
	check("longer", append(append([]byte(nil), file...), 0))
}

// An entry's file is not used for another bucket, key or range.
func TestEntryOfAnother(t *testing.T) {
	path, _ := written(t)
	for _, c := range []struct {
		bucket string
		id     rangeID
	}{
		{"c", page},
		{"b", rangeID{"segments/0/b.seg", page.Range}},
		{"b", rangeID{page.key, blob.Range{Offset: 4, Length: 5}}},
		{"b", rangeID{page.key, blob.Range{Offset: 3, Length: 6}}},
		{"bs", rangeID{"egments/0/a.seg", page.Range}}, // bucket and key joined are the same bytes, divided elsewhere
	} {
		if content, err := readEntry(path, c.bucket, c.id, 1<<20); !errors.Is(err, errDamaged) {
			t.Errorf("%+v: got %q, %v", c, content, err)
		}
		if nameOf(c.bucket, c.id) == nameOf("b", page) {
			t.Errorf("%+v has the same name", c)
		}
	}
	if content, err := readEntry(path, "b", page, 4); !errors.Is(err, errDamaged) {
		t.Errorf("more than the most: got %q, %v", content, err)
	}
}
