package rangecache

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0 // evicted meanwhile
	}
	return info.Size()
}

// onDir returns the options of a cache that also stores its entries on disk, in the directory dir.
func onDir(dir string) Options {
	return Options{Memory: 1 << 20, Disk: 1 << 20, Dir: dir, Bucket: "b"}
}

// filled returns a bucket with an object, and a directory that a cache, now closed, has left on disk.
// The directory has entries of three ranges of the object.
func filled(t *testing.T) (bucket blob.Reader, dir string) {
	t.Helper()
	bucket, dir = store(t, 1<<20), t.TempDir()
	c := open(t, bucket, onDir(dir))
	wantRead(t, c, bucket, "a", blocks(10_000, 0, 1, 2)...)
	shut(t, c)
	if n := len(files(t, dir)); n != 3 {
		t.Fatalf("%d files, want 3", n)
	}
	return bucket, dir
}

// A cache finds the entries that an earlier one has left on disk, but only those of its own
// bucket.
func TestDiskIsFoundAgain(t *testing.T) {
	bucket, dir := filled(t)
	for _, c := range []struct {
		name string
		hits int64
	}{{"b", 3}, {"another", 0}} {
		o := onDir(dir)
		o.Bucket = c.name
		again := open(t, bucket, o)
		wantRead(t, again, bucket, "a", blocks(10_000, 0, 1, 2)...)
		if s := again.Stats(); s.DiskHits != c.hits || s.Damaged != 0 {
			t.Errorf("bucket %s: %+v, want %d hits", c.name, s, c.hits)
		}
		shut(t, again)
	}
}

// Damaged entries are deleted, and their ranges requested and stored again.
func TestDamagedEntryIsReplaced(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(path, other string) error
	}{
		{"flipped", func(path, _ string) error {
			content, _ := os.ReadFile(path)
			content[len(content)/2]++
			return os.WriteFile(path, content, 0o600)
		}},
		{"empty", func(path, _ string) error { return os.Truncate(path, 0) }},
		{"another's", func(path, other string) error {
			content, _ := os.ReadFile(other)
			return os.WriteFile(path, content, 0o600)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bucket, dir := filled(t)
			paths := files(t, dir)
			if err := c.damage(paths[0], paths[1]); err != nil {
				t.Fatal(err)
			}
			for life, want := range []Stats{{DiskHits: 2, Damaged: 1, Misses: 1}, {DiskHits: 3}} {
				again := open(t, bucket, onDir(dir))
				wantRead(t, again, bucket, "a", blocks(10_000, 0, 1, 2)...)
				if s := again.Stats(); s.DiskHits != want.DiskHits || s.Damaged != want.Damaged || s.Misses != want.Misses {
					t.Errorf("life %d: %+v, want %+v", life, s, want)
				}
				shut(t, again)
			}
		})
	}
}

// Files are cut short or deleted after the cache has entered them in its index. It must notice
// this when it reads them.
func TestDamagedUnderTheOwner(t *testing.T) {
	bucket, dir := filled(t)
	o := onDir(dir)
	o.Memory = 3 * 8 * indexed // room for an index of three entries, and for no range in memory
	c := open(t, bucket, o)
	wantRead(t, c, bucket, "a", blocks(10_000, 3)...) // c writes, and so becomes the owner of the directory
	c.work.Wait()
	if !c.reserve(c.room()) {
		t.Fatal("cannot reserve")
	}
	paths := files(t, dir)
	if err := os.Truncate(paths[0], 9); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(paths[1]); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		wantRead(t, c, bucket, "a", blocks(10_000, 0, 1, 2, 3)...)
		c.work.Wait()
	}
	if s := c.Stats(); s.Damaged != 1 || s.Unwritten != 0 || s.Disk != used(t, dir) || len(files(t, dir)) != 3 {
		t.Errorf("%+v, %d bytes in %d files", s, used(t, dir), len(files(t, dir)))
	}
}

// A cache on disk is opened again, with a lower budget. It must delete entries until those that the
// earlier cache left and its own new ones fit into the budget.
func TestSmallerBudget(t *testing.T) {
	bucket, dir := filled(t)
	o := onDir(dir)
	paths := files(t, dir)
	for i, path := range paths {
		content := time.Unix(int64(i+1)%3, 0) // the last is the oldest
		if err := os.Chtimes(path, content, content); err != nil {
			t.Fatal(err)
		}
	}
	o.Disk = 2 * onDisk(10_100)
	c := open(t, bucket, o)
	wantRead(t, c, bucket, "a", blocks(10_000, 7)...)
	shut(t, c)
	if fileSize(paths[0]) != 0 || fileSize(paths[1]) == 0 || fileSize(paths[2]) != 0 {
		t.Error("another than the newest was left")
	}
	if n := used(t, dir); n > o.Disk || n == 0 || n != c.Stats().Disk {
		t.Errorf("%d bytes are used of %d, the cache says %d", n, o.Disk, c.Stats().Disk)
	}
	o.Disk = 1 // room for no entry
	c = open(t, bucket, o)
	wantRead(t, c, bucket, "a", blocks(10_000, 8)...)
	shut(t, c)
	if n := used(t, dir); n != 0 {
		t.Errorf("%d bytes are used of 1", n)
	}
}

// A cache deletes only its own files, and other users cannot read them.
func TestDirectory(t *testing.T) {
	bucket, dir := filled(t)
	own := filepath.Join(dir, "ranges")
	strangers := []string{"notes.txt", strings.Repeat("A", 32), strings.Repeat("0", 31), "new"}
	for _, name := range append(strangers, unfinished+"123") {
		if err := os.WriteFile(filepath.Join(own, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(own, 0o755); err != nil {
		t.Fatal(err)
	}
	o := onDir(dir)
	o.Disk = onDisk(10_100)
	c := open(t, bucket, o)
	wantRead(t, c, bucket, "a", blocks(10_000, 9)...)
	shut(t, c)
	for _, name := range strangers {
		if fileSize(filepath.Join(own, name)) != 1 {
			t.Errorf("%s is gone", name)
		}
	}
	if _, err := os.Stat(filepath.Join(own, unfinished+"123")); !os.IsNotExist(err) {
		t.Errorf("what was not finished is there: %v", err)
	}
	if info, err := os.Stat(own); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, %v", info.Mode(), err)
	}
	for _, path := range files(t, dir) {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v", path, info.Mode(), err)
		}
	}
}

// Read does not fail if entries cannot be written to disk.
func TestDiskFails(t *testing.T) {
	bucket, dir := filled(t)
	c := open(t, bucket, onDir(dir))
	wantRead(t, c, bucket, "a", blocks(10_000, 0, 5)...)
	c.work.Wait()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	wantRead(t, c, bucket, "a", blocks(10_000, 1, 6, 7)...)
	shut(t, c)
	if s := c.Stats(); s.DiskHits != 1 || s.Unwritten != 3 {
		t.Errorf("%+v, want one hit and three entries unwritten", s)
	}
}

func TestNoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := New(store(t), onDir(file)); err == nil {
		t.Errorf("got %v, want an error", c)
	}
}

// Of two caches with one directory, the first writes; the second only reads, until the
// first is closed.
func TestTwoCaches(t *testing.T) {
	bucket, dir := store(t, 1<<20), t.TempDir()
	first, second := open(t, bucket, onDir(dir)), open(t, bucket, onDir(dir))
	wantRead(t, first, bucket, "a", blocks(10_000, 0, 1)...)
	first.work.Wait()
	wantRead(t, second, bucket, "a", blocks(10_000, 0, 1, 2)...)
	second.work.Wait()
	if s := second.Stats(); s.DiskHits != 2 || s.Misses != 1 || s.Unwritten != 0 || len(files(t, dir)) != 2 {
		t.Errorf("the second: %+v, %d files", s, len(files(t, dir)))
	}
	shut(t, first)
	wantRead(t, second, bucket, "a", blocks(10_000, 3)...)
	shut(t, second)
	if s := second.Stats(); s.Disk != used(t, dir) || len(files(t, dir)) != 3 {
		t.Errorf("after the first: %+v, %d files of %d", s, len(files(t, dir)), used(t, dir))
	}
}
