package rangecache

import (
	"path/filepath"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// kept is a bucket, and the options of the caches that a test opens one after another with the same
// directory.
type kept struct {
	t       *testing.T
	bucket  *countblob.Bucket
	options Options
}

func newKept(t *testing.T) *kept {
	k := &kept{t: t, bucket: countblob.New(memblob.New())}
	k.options = Options{Memory: 1 << 20, Dir: t.TempDir(), Disk: 1 << 20, Bucket: "b"}
	for _, key := range []string{"a", "b"} {
		if err := k.bucket.Create(t.Context(), key, []byte("0123456789")); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// open returns a new cache with the options k.options. All these caches use the same directory.
func (k *kept) open() *Cache {
	k.t.Helper()
	c, err := New(k.bucket, k.options)
	if err != nil {
		k.t.Fatal(err)
	}
	return c
}

func (k *kept) close(c *Cache) {
	k.t.Helper()
	if err := c.Close(); err != nil {
		k.t.Fatal(err)
	}
}

// gets reads a range, waits until it is on disk, and returns how many requests this took.
func (k *kept) gets(c *Cache, key string, r blob.Range) int64 {
	k.t.Helper()
	before := k.bucket.Counts().Get
	if _, err := c.Read(k.t.Context(), key, []blob.Range{r}); err != nil {
		k.t.Fatal(err)
	}
	c.work.Wait()
	return k.bucket.Counts().Get - before
}

// The argument of Follow stands for a state of the bucket. If it is the same as before, all entries
// of the cache stay, also those that an earlier cache has left on disk. If it is another one, all
// entries are deleted, and the next read requests its range again.
func TestFollow(t *testing.T) {
	k := newKept(t)
	first, second := blob.Range{Length: 3}, blob.Range{Offset: 5, Length: 3}
	earlier := k.open()
	earlier.Follow("one")
	k.gets(earlier, "a", first)
	k.close(earlier)

	same := k.open()
	if n := k.gets(same, "a", second); n != 1 { // before the state is known
		t.Errorf("%d GETs of what was never read, want 1", n)
	}
	if same.Follow("one") {
		t.Error("the first state is called a change")
	}
	if n := k.gets(same, "a", first) + k.gets(same, "a", second); n != 0 {
		t.Errorf("%d GETs in the same state, want 0", n)
	}
	k.close(same)

	other := k.open()
	defer k.close(other)
	other.Follow("one")
	k.gets(other, "a", first)
	if !other.Follow("two") {
		t.Error("another state is not called a change")
	}
	if s := other.Stats(); s.Memory != 0 || s.Disk != 0 {
		t.Errorf("still held: %+v", s)
	}
	if paths, err := filepath.Glob(filepath.Join(other.disk.dir, "*")); err != nil || len(paths) != 2 {
		t.Errorf("files besides the lock and the state: %v, %v", paths, err)
	}
	if n := k.gets(other, "a", first); n != 1 {
		t.Errorf("%d GETs in another state, want 1", n)
	}
}

// The argument of Follow stands for a state of the bucket. A cache with a directory on disk is told
// one state, and is closed. A new cache with the same directory is told another state. It must not
// use the entries that the old cache has left on disk.
func TestFollowLater(t *testing.T) {
	k := newKept(t)
	earlier := k.open()
	earlier.Follow("one")
	k.gets(earlier, "a", blob.Range{Length: 3})
	k.close(earlier)
	c := k.open()
	defer k.close(c)
	c.Follow("two")
	if n := k.gets(c, "a", blob.Range{Length: 3}); n != 1 {
		t.Errorf("%d GETs, want 1", n)
	}
}

// After Forget of one object, only the ranges of this object are requested from the bucket again.
func TestForget(t *testing.T) {
	k := newKept(t)
	c := k.open()
	r := blob.Range{Length: 3}
	k.gets(c, "a", r)
	k.gets(c, "b", r)
	c.Forget("a")
	if n := k.gets(c, "b", r); n != 0 {
		t.Errorf("%d GETs of another object, want 0", n)
	}
	if n := k.gets(c, "a", r); n != 1 {
		t.Errorf("%d GETs, want 1", n)
	}
	c.Forget("a")
	k.close(c)
	c = k.open() // the entry is not on disk, either
	defer k.close(c)
	if n := k.gets(c, "a", r); n != 1 {
		t.Errorf("%d GETs after another start, want 1", n)
	}
}
