package scratch_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
)

const window = 8 << 20 // size of the ranges in which Read reads

// pattern returns so many bytes, of which no two pages are the same.
func pattern(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return b
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left in the directory, or %v", len(left), err)
	}
}

// TestRead reads objects of sizes around that of a window. No file has a name, not even while it is used.
func TestRead(t *testing.T) {
	for _, size := range []int{0, 1, window - 1, window, window + 1, 2*window + 7} {
		dir, bucket, want := t.TempDir(), memblob.New(), pattern(size)
		if err := bucket.Create(t.Context(), "key", want); err != nil {
			t.Fatal(err)
		}
		content, free, found, err := scratch.Read(t.Context(), bucket, "key", dir)
		if err != nil || !found || !bytes.Equal(content, want) {
			t.Errorf("%d bytes: got %d, found %v, error %v", size, len(content), found, err)
		}
		wantEmpty(t, dir)
		free()
	}
	if _, _, found, err := scratch.Read(t.Context(), memblob.New(), "key", t.TempDir()); found || err != nil {
		t.Errorf("an absent object: found %v, error %v", found, err)
	}
}

// failing is a Reader that fails after the first window.
type failing struct{ blob.Reader }

var errLater = errors.New("later")

func (f failing) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	if r.Offset > 0 {
		return nil, errLater
	}
	return f.Reader.Get(ctx, key, r)
}

func TestReadFails(t *testing.T) {
	bucket := memblob.New()
	if err := bucket.Create(t.Context(), "key", pattern(2*window)); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := scratch.Read(t.Context(), failing{bucket}, "key", t.TempDir()); !errors.Is(err, errLater) {
		t.Errorf("got %v, want the error of the second request", err)
	}
	if _, _, _, err := scratch.Read(t.Context(), bucket, "key", t.TempDir()+"/absent"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that of the missing directory", err)
	}
}

// TestMap joins two files, and appends to the mapped content within its free space.
func TestMap(t *testing.T) {
	dir := t.TempDir()
	var files [2]*scratch.File
	for i := range files {
		var err error
		if files[i], err = scratch.Create(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := files[i].Write([]byte{'a' + byte(i), 'z'}); err != nil {
			t.Fatal(err)
		}
	}
	if err := files[0].Take(files[1]); err != nil {
		t.Fatal(err)
	}
	content, err := files[0].Map(3)
	if err != nil {
		t.Fatal(err)
	}
	if longer := append(content, "end"...); &longer[0] != &content[0] || string(longer) != "azbzend" {
		t.Errorf("got %q, or the free space was too small", longer)
	}
	wantEmpty(t, dir)
	for _, f := range files {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
