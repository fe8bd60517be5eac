package s3

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3err"
)

// syncs records the paths of the files that were synced, and calls a function at the first sync.
type syncs struct {
	first func()
	mu    sync.Mutex // protects the field below
	paths []string
}

func (s *syncs) sync(file *os.File) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paths = append(s.paths, file.Name()); len(s.paths) == 1 && s.first != nil {
		s.first()
	}
	return nil
}

// TestRoundIsOpenedFirst renames all files when the first of them is synced: the others are synced
// nevertheless.
func TestRoundIsOpenedFirst(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i := range 10 * parallelSyncs {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%03d", i)))
		if err := os.WriteFile(paths[i], nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &syncs{first: func() {
		for _, path := range paths {
			if err := os.Rename(path, path+".renamed"); err != nil {
				t.Error(err)
			}
		}
	}}
	d := &disk{sync: s.sync}
	if err := d.syncAll(append(paths, filepath.Join(dir, "deleted"))); err != nil {
		t.Fatal(err)
	}
	slices.Sort(s.paths)
	if diff := cmp.Diff(paths, s.paths); diff != "" {
		t.Errorf("synced (-want +got):\n%s", diff)
	}
}

// TestRoundFails has a file that cannot be synced: all calls of the round fail.
func TestRoundFails(t *testing.T) {
	broken := errors.New("broken disk")
	d := &disk{sync: func(*os.File) error { return broken }}
	if err := d.syncAll([]string{t.TempDir()}); !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
}

// overtaken deletes a file whenever versitygw, before it deletes the object, looks at the etag.
type overtaken struct {
	meta.XattrMeta
	path string
}

func (o overtaken) RetrieveAttribute(file *os.File, bucket, object, attribute string) ([]byte, error) {
	_ = os.Remove(o.path)
	return o.XattrMeta.RetrieveAttribute(file, bucket, object, attribute)
}

// TestSlowerDelete deletes an object that another call deletes at the same time: the folders are
// synced before the answer, which a client takes as a sign that the object is deleted.
func TestSlowerDelete(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir) // posix.New changes the working directory; this returns to the present one
	folder := filepath.Join(dir, "bucket", "a")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "b")
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	backend, err := posix.New(dir, overtaken{path: file}, posix.PosixOpts{Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := new(syncs)
	bucket, key := "bucket", "a/b"
	_, err = durable{backend, dir, &disk{sync: s.sync}}.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
	if answer, ok := errors.AsType[s3err.S3Error](err); !ok || answer.BaseError().Code != "NoSuchKey" {
		t.Errorf("answer %v, want that there is no such key", err)
	}
	slices.Sort(s.paths)
	if diff := cmp.Diff([]string{filepath.Dir(folder), folder}, s.paths); diff != "" {
		t.Errorf("synced (-want +got):\n%s", diff)
	}
}
