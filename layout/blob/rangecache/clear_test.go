package rangecache

import (
	"os"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// TestClear: nothing is left, not even of an earlier cache, and the next read
// asks the bucket.
func TestClear(t *testing.T) {
	bucket := countblob.New(memblob.New())
	if err := bucket.Create(t.Context(), "a", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	options := Options{Memory: 1 << 20, Dir: t.TempDir(), Disk: 1 << 20, Bucket: "b"}
	read := func(c *Cache, r blob.Range) {
		t.Helper()
		if _, err := c.Read(t.Context(), "a", []blob.Range{r}); err != nil {
			t.Fatal(err)
		}
	}
	earlier, err := New(bucket, options)
	if err != nil {
		t.Fatal(err)
	}
	read(earlier, blob.Range{Length: 3})
	if err := earlier.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := New(bucket, options)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	read(c, blob.Range{Offset: 3, Length: 3})
	c.work.Wait()
	c.Clear()
	if s := c.Stats(); s.Memory != 0 || s.Disk != 0 {
		t.Errorf("still held: %+v", s)
	}
	files, err := os.ReadDir(c.disk.dir)
	if err != nil || len(files) != 1 {
		t.Errorf("files besides the lock: %v, %v", files, err)
	}
	before := bucket.Counts().Get
	read(c, blob.Range{Length: 3})
	if gets := bucket.Counts().Get - before; gets != 1 {
		t.Errorf("%d GETs, want 1", gets)
	}
}
