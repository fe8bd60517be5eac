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

// syncs replaces the syncing of files in tests. Its method sync only records the path of the file.
// At the first call of sync, it also runs the callback of the test, if there is one.
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

// TestRoundIsOpenedFirst: a round (files that are synced together) must open all its files before it
// syncs the first one. The test renames all files while the first one is synced. The other files must
// be synced nevertheless.
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

// TestRoundFails: if one file of a round (files that are synced together) cannot be synced,
// every call that waits for the round gets the error.
func TestRoundFails(t *testing.T) {
	broken := errors.New("broken disk")
	d := &disk{sync: func(*os.File) error { return broken }}
	if err := d.syncAll([]string{t.TempDir()}); !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
}

// overtaken lets a test simulate that two calls delete an object at once. Before versitygw deletes
// an object, it reads the etag from the object's metadata. At that moment overtaken deletes the
// file of the object, as if another call had been faster.
type overtaken struct {
	meta.XattrMeta
	path string
}

func (o overtaken) RetrieveAttribute(file *os.File, bucket, object, attribute string) ([]byte, error) {
	_ = os.Remove(o.path)
	return o.XattrMeta.RetrieveAttribute(file, bucket, object, attribute)
}

// TestSlowerDelete: two calls delete an object at once. The slower one gets the answer that there is
// no such object. Its client takes this answer as a sign that the object is deleted for good, even
// after a power cut. Therefore the folders above the object must be synced before this answer.
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
