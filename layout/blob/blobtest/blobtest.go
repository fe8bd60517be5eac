// Package blobtest is the conformance suite of blob.Bucket: every implementation passes
// it.
package blobtest

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Run tests the buckets that the function open returns. The buckets need not be empty: each test
// uses keys below a random prefix, and deletes these objects at its end.
func Run(t *testing.T, open func(t *testing.T) blob.Bucket) {
	for _, part := range []struct {
		name  string
		check func(*testing.T, fixture)
	}{
		{"absent", checkAbsent},
		{"get", checkGet},
		{"ranges", checkRanges},
		{"empty object", checkEmpty},
		{"large object", checkLarge},
		{"create", checkCreate},
		{"create race", checkCreateRace},
		{"replace", checkReplace},
		{"delete", checkDelete},
		{"keys", checkKeys},
		{"list", checkList},
		{"list many", checkListMany},
		{"cancelled", checkCancelled},
		{"content is copied", checkCopied},
	} {
		t.Run(part.name, func(t *testing.T) {
			f := fixture{open(t), "blobtest-" + rand.Text() + "/"}
			t.Cleanup(func() { f.clean(t) })
			part.check(t, f)
		})
	}
}

// fixture is the bucket under test, with the prefix of all keys of one test.
type fixture struct {
	blob.Bucket
	prefix string
}

func (f fixture) clean(t *testing.T) {
	for _, object := range f.list(t, f.prefix, "") {
		if err := f.Delete(context.Background(), object.Key); err != nil {
			t.Errorf("clean up: %v", err)
		}
	}
}

func (f fixture) create(t *testing.T, name, content string) string {
	t.Helper()
	key := f.prefix + name
	if err := f.Create(t.Context(), key, []byte(content)); err != nil {
		t.Fatal(err)
	}
	return key
}

func (f fixture) want(t *testing.T, key string, r blob.Range, want string) {
	t.Helper()
	got, err := f.Get(t.Context(), key, r)
	if err != nil {
		t.Errorf("get %s %+v: %v", key, r, err)
	} else if string(got) != want {
		t.Errorf("get %s %+v: got %q, want %q", key, r, clip(got), clip([]byte(want)))
	}
}

// list lists objects, with Modified set to zero so that tests can compare them. It checks
// that Modified was less than a day from now: the clock of the store may differ from ours.
func (f fixture) list(t *testing.T, prefix, startAfter string) []blob.Object {
	t.Helper()
	var objects []blob.Object
	for object, err := range f.List(context.Background(), prefix, startAfter) {
		if err != nil {
			t.Fatalf("list %q behind %q: %v", prefix, startAfter, err)
		}
		if age := time.Since(object.Modified).Abs(); age > 24*time.Hour {
			t.Errorf("%s was stored %v ago", object.Key, age)
		}
		object.Modified = time.Time{}
		objects = append(objects, object)
	}
	return objects
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

func clip(b []byte) []byte { return b[:min(len(b), 80)] }
