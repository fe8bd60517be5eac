package rangecache

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/blobtest"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// conforming is a bucket that is read through a cache, to test the cache by the conformance suite
// of buckets. This suite replaces and deletes objects, which a cache does not allow. So after each
// such call, conforming uses a new cache.
type conforming struct {
	blob.Bucket
	t     *testing.T
	mu    sync.Mutex
	cache *Cache
}

func (b *conforming) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	b.mu.Lock()
	cache := b.cache
	b.mu.Unlock()
	contents, err := cache.Read(ctx, key, []blob.Range{r})
	if err != nil {
		return nil, err
	}
	return bytes.Clone(contents[0]), nil
}

func (b *conforming) renew() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cache = open(b.t, b.Bucket, Options{Memory: 1 << 20, Disk: 1 << 20, Dir: b.t.TempDir()})
}

func (b *conforming) Replace(ctx context.Context, key string, content []byte) error {
	defer b.renew()
	return b.Bucket.Replace(ctx, key, content)
}

func (b *conforming) Delete(ctx context.Context, key string) error {
	if ctx.Err() == nil && ctx != context.Background() {
		defer b.renew()
	}
	return b.Bucket.Delete(ctx, key)
}

func TestConformance(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Bucket {
		b := &conforming{Bucket: memblob.New(), t: t}
		b.renew()
		return b
	})
}

// Four goroutines read random ranges at once, through two caches with tiny budgets. Then the two
// caches are closed, and two new ones take their place. This is done three times with caches in
// memory, and three times with caches that also share a directory on disk. Each read must return
// the bytes of the bucket, and no cache may exceed its budget.
func TestModel(t *testing.T) {
	const memory, limited = 64 << 10, 128 << 10
	for _, dir := range []string{"", t.TempDir()} {
		t.Run(fmt.Sprintf("disk %t", dir != ""), func(t *testing.T) {
			bucket := store(t, 0, 1, 100, 50_000, 300_000)
			diskHits := int64(0) // of all caches: one that never owned the directory has none
			for life := range uint64(3) {
				o := Options{Memory: memory, Disk: limited, Dir: dir, Bucket: "b"}
				caches := []*Cache{open(t, bucket, o), open(t, bucket, o)}
				var group sync.WaitGroup
				for worker := range 4 {
					group.Go(func() {
						random, c := rand.New(rand.NewPCG(life, uint64(worker))), caches[worker%2]
						for step := range 150 {
							wantRead(t, c, bucket, string(rune('a'+random.IntN(6))), anyRanges(random)...)
							if s := c.Stats(); s.Memory > memory || s.Disk > limited {
								t.Errorf("over the budget: %+v", s)
							}
							if step%10 == 0 && used(t, dir) > limited {
								t.Errorf("%d bytes on disk", used(t, dir))
							}
						}
					})
				}
				group.Wait()
				stored := int64(0)
				for _, c := range caches {
					shut(t, c)
					s := c.Stats()
					if s.Disk > 0 { // the owner; after it was shut, the other cache may have taken over
						stored = s.Disk
					}
					diskHits += s.DiskHits
					if s.MemoryHits == 0 || s.Misses == 0 || s.Damaged+s.Unwritten != 0 || len(c.loads) != 0 {
						t.Errorf("%+v, %d loads are left", s, len(c.loads))
					}
				}
				if n := used(t, dir); n != stored {
					t.Errorf("%d bytes on disk, the caches say %d", n, stored)
				}
			}
			if dir != "" && diskHits == 0 {
				t.Error("nothing was read from the disk")
			}
		})
	}
}

// anyRanges returns random ranges, most of which were probably read before.
func anyRanges(random *rand.Rand) []blob.Range {
	ranges := make([]blob.Range, random.IntN(6))
	for i := range ranges {
		switch random.IntN(8) {
		case 0:
			ranges[i] = blob.Range{Offset: -random.Int64N(60_000)}
		case 1:
			ranges[i] = blob.Range{Offset: random.Int64N(310_000)}
		case 2:
			ranges[i] = blob.Range{Offset: random.Int64N(60_000), Length: random.Int64N(9_000)}
		default:
			ranges[i] = blob.Range{Offset: random.Int64N(12) * 4_000, Length: 4_000}
		}
	}
	return ranges
}

// used returns the disk space, in bytes, of the entries in a directory.
func used(t testing.TB, dir string) (sum int64) {
	t.Helper()
	for _, path := range files(t, dir) {
		sum += onDisk(fileSize(path))
	}
	return sum
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "ranges", "????????????????????????????????"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// One Read makes few requests. A second Read of the same ranges makes none.
func TestRequests(t *testing.T) {
	bucket := store(t, 4<<20)
	c := open(t, bucket, Options{Memory: 1 << 20})
	ranges := append(blocks(10_000, 3, 4, 5, 300, 301, 3), blob.Range{Offset: -7})
	for range 2 {
		wantRead(t, c, blob.Reader(bucket), "a", ranges...)
	}
	want := Stats{MemoryHits: 7, Misses: 6, Shared: 1, Memory: c.Stats().Memory}
	if want.Memory > 60_000 { // the ranges do not keep the whole answer in memory
		t.Errorf("%d bytes are held for 50007", want.Memory)
	}
	if diff := cmp.Diff(want, c.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	if got := bucket.Counts().Get - 2*7; got != 3 { // 14 are requests of wantRead itself, which reads each range from the bucket, too
		t.Errorf("%d requests, want 3", got)
	}
}

// A range that is not valid causes no request.
func TestWrongRange(t *testing.T) {
	bucket := store(t, 10)
	c := open(t, bucket, Options{Memory: 1 << 20})
	for _, r := range []blob.Range{{Length: -1}, {Offset: -1, Length: 1}} {
		if _, err := c.Read(t.Context(), "a", []blob.Range{{}, r}); err == nil {
			t.Errorf("%+v: no error", r)
		}
	}
	if n := bucket.Counts().Requests(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// A call of Hold charges bytes of the memory budget for an object. Then less room is left for
// ranges, until the garbage collector frees the object.
func TestHold(t *testing.T) {
	bucket := store(t, 100_000)
	c := open(t, bucket, Options{Memory: 50_000})
	wantRead(t, c, bucket, "a", blocks(10_000, 0, 1, 2)...)
	wantRead(t, c, bucket, "a", blocks(10_000, 0, 1, 2)...) // protected, too
	before := c.Stats().Memory
	first, second := new([64]byte), new([64]byte)
	if Hold(c, first, 50_001) || c.Stats().Memory != before {
		t.Errorf("more than the budget is held: %+v", c.Stats())
	}
	if !Hold(c, first, 20_000) || Hold(c, second, 30_001) || !Hold(c, second, 18_000) {
		t.Error("the budget is not counted rightly")
	}
	if s := c.Stats(); s.Held != 38_000 || s.Memory == 0 || s.Memory > 12_000 {
		t.Errorf("got %+v, want one entry beside 38000 held", s)
	}
	hits := c.Stats().MemoryHits
	for range 2 {
		wantRead(t, c, bucket, "a", blocks(10_000, 5)...) // takes the place of what was protected
	}
	if c.Stats().MemoryHits != hits+1 {
		t.Errorf("nothing new is kept in what is left: %+v", c.Stats())
	}
	runtime.KeepAlive(first)
	runtime.KeepAlive(second)
	for c.held.Load() > 0 {
		runtime.GC()
	}
	wantRead(t, c, bucket, "a", blocks(10_000, 0, 1, 2)...)
	if s := c.Stats(); s.Held != 0 || s.Memory != before/3*4 {
		t.Errorf("got %+v, want four entries", s)
	}
}

// Stats.Memory is the memory that the entries really take on the heap.
func TestMemoryIsCountedHonestly(t *testing.T) {
	for _, size := range []int64{1, 100, 3_000, 20_000, 70_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			n := min(20_000, 16<<20/size)
			c := open(t, endless{}, Options{Memory: 64 << 20})
			before := heap()
			for i := range n {
				key := fmt.Sprintf("segments/0000/%064d.seg", i) // every key of its own
				if _, err := c.Read(t.Context(), key, []blob.Range{{Offset: i * size, Length: size}}); err != nil {
					t.Fatal(err)
				}
			}
			took, counted := heap()-before, c.Stats().Memory
			if len(c.memory.entries) != int(n) || took > counted || took < counted/2 {
				t.Errorf("%d entries take %d bytes of the heap, %d are counted", len(c.memory.entries), took, counted)
			}
		})
	}
}

// In the index of the files on disk, each entry takes about as much memory as the cache counts for it.
func TestIndexIsCountedHonestly(t *testing.T) {
	const n = 60_000
	before, index := heap(), newLRU[fileName, struct{}]()
	for i := range n {
		index.add(nameOf("b", rangeID{"k", blob.Range{Offset: int64(i)}}), struct{}{}, smallest)
	}
	if took := heap() - before; took > n*indexed || took < n*indexed/2 {
		t.Errorf("an entry of the index takes %d bytes, %d are counted", took/n, indexed)
	}
	for i := range n - 100 {
		index.remove(nameOf("b", rangeID{"k", blob.Range{Offset: int64(i)}}))
	}
	if took := heap() - before; took > n*indexed/4 {
		t.Errorf("100 entries of what were %d take %d bytes", n, took)
	}
	runtime.KeepAlive(index)

	const memory = 1 << 20
	c := open(t, endless{}, Options{Memory: memory, Disk: 1 << 40, Dir: t.TempDir()})
	if c.reserve(memory-memory/8+1) || !c.reserve(memory-memory/8) {
		t.Error("an eighth of the memory is not set aside for the index")
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// endless is a store that returns some bytes for every range of every object.
type endless struct{ blob.Reader }

func (endless) Get(_ context.Context, _ string, r blob.Range) ([]byte, error) {
	return make([]byte, r.Length), nil
}
