package manifest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
)

func init() { manifest.Small = 0 } // so that generations of small partitions are deltas, too

// listing returns an edit that lists packages, whose entries take 100 bytes each when compressed.
func listing(packages int) func(*manifest.Manifest) {
	r := rand.New(rand.NewPCG(1, uint64(packages)))
	return func(m *manifest.Manifest) {
		for n := range packages {
			name := layout.PackageName{Base: 2, Created: noon.Add(-time.Duration(n) * time.Minute)}
			former := fmt.Sprintf("%016x%016x%016x%016x%016x%016x", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
			m.Add(manifest.Package{Key: layout.PackageKey(0, name), Bytes: r.Int64N(32 << 20), Pages: r.IntN(1000), Formerly: []string{former}})
		}
	}
}

// chains holds the objects that 120 commits store: each generation, and the hint after it. The keys are
// numbers of packages.
var chains sync.Map

type kept struct{ generation, hint []byte }

// chained returns a bucket with a checkpoint of many packages, and deltas after it: generations 1 to
// the given number, at most 120, committed a minute apart. Generation n calls n-1 packages indexed.
func chained(t testing.TB, packages, generations int) *memblob.Bucket {
	t.Helper()
	made, _ := chains.LoadOrStore(packages, sync.OnceValue(func() (all []kept) {
		bucket, m := memblob.New(), manifest.Manifest{}
		for n := range 120 {
			var err error
			m, err = manifest.CommitAfter(context.Background(), bucket, m, at(n), func(m *manifest.Manifest) error {
				if n == 0 {
					listing(packages)(m)
				} else {
					m.Packages[n-1].Indexed = true
				}
				return nil
			})
			if err != nil {
				panic(err)
			}
			all = append(all, kept{mustGet(bucket, layout.ManifestKey(0, m.Generation)), mustGet(bucket, layout.HintKey(0))})
		}
		return all
	}))
	bucket := memblob.New()
	all := made.(func() []kept)()[:generations]
	for n, s := range all {
		if err := bucket.Create(t.Context(), layout.ManifestKey(0, uint64(n)+1), s.generation); err != nil {
			t.Fatal(err)
		}
	}
	if err := bucket.Replace(t.Context(), layout.HintKey(0), all[generations-1].hint); err != nil {
		t.Fatal(err)
	}
	return bucket
}

func mustGet(bucket *memblob.Bucket, key string) []byte {
	content, err := bucket.Get(context.Background(), key, blob.Range{})
	if err != nil {
		panic(err)
	}
	return content
}

// indexed returns the number of packages that are indexed, which is the number of the generation - 1.
func indexed(m manifest.Manifest) (n uint64) {
	for _, p := range m.Packages {
		if p.Indexed {
			n++
		}
	}
	return n
}

func TestDeltasAreRead(t *testing.T) {
	bucket := chained(t, 700, 110)
	for n := uint64(1); n <= 110; n += racetest.Rounds[uint64](3, 27) {
		counted := countblob.New(bucket)
		m, err := manifest.At(t.Context(), counted, 0, n)
		if err != nil || m.Generation != n || indexed(m) != n-1 {
			t.Errorf("generation %d: %d with %d indexed, %v", n, m.Generation, indexed(m), err)
		}
		if gets, want := counted.Counts().Get, int64((n-1)%100+1); gets != want {
			t.Errorf("generation %d takes %d GETs, want %d", n, gets, want)
		}
		if m, err := manifest.AsOf(t.Context(), bucket, 0, at(int(n-1))()); err != nil || m.Generation != n || indexed(m) != n-1 {
			t.Errorf("as of minute %d: generation %d with %d indexed, %v", n-1, m.Generation, indexed(m), err)
		}
	}
}

// TestReadingBehindTheHint reads the newest generation, when the hint copies only every eighth one. The requests
// must be sent in two rounds, or in three if no generation follows the copied one.
func TestReadingBehindTheHint(t *testing.T) {
	for _, n := range []uint64{104, 105, 109, 111, 112} {
		counted := countblob.New(chained(t, 2000, int(n)))
		hint, err := manifest.Hint(t.Context(), counted, 0)
		if err != nil || hint.Generation != n/8*8 || indexed(hint) != hint.Generation-1 {
			t.Fatalf("the hint of generation %d copies %d, %v", n, hint.Generation, err)
		}
		before := counted.Counts()
		m, err := manifest.Read(t.Context(), counted, 0)
		after := counted.Counts()
		if err != nil || m.Generation != n || indexed(m) != n-1 || m.Later() != nil {
			t.Errorf("read generation %d with %d indexed, %v", m.Generation, indexed(m), err)
		}
		heads := int64(0)
		if n == hint.Generation {
			heads = 1
		}
		if after.Get-before.Get != 9 || after.Head-before.Head != heads || after.List > 0 {
			t.Errorf("generation %d, %d after the hint, takes %+v", n, n-hint.Generation, after)
		}
		for _, known := range []uint64{n - 8, n - 3, n - 1, n} {
			m, err := manifest.At(t.Context(), counted, 0, known)
			if err != nil {
				t.Fatal(err)
			}
			for name, read := range map[string]func() (manifest.Manifest, error){
				"newer":  func() (manifest.Manifest, error) { return manifest.Newer(t.Context(), counted, m) },
				"reread": func() (manifest.Manifest, error) { return manifest.Reread(t.Context(), counted, m) },
			} {
				if m, err := read(); err != nil || m.Generation != n || indexed(m) != n-1 {
					t.Errorf("%s than %d: generation %d with %d indexed, %v", name, known, m.Generation, indexed(m), err)
				}
			}
		}
	}
}

// TestDamagedDelta damages, deletes or replaces a delta between others. Without a newer hint, Read must return the
// generation before the damaged one, and Commit must fail. With a newer hint, both must go on from the hint. After
// a later checkpoint, the damage has no effect.
func TestDamagedDelta(t *testing.T) {
	const broken = 60
	key := layout.ManifestKey(0, broken)
	for name, harm := range map[string]func(*memblob.Bucket) error{
		"damaged": func(b *memblob.Bucket) error { return b.Replace(t.Context(), key, make([]byte, 100)) },
		"deleted": func(b *memblob.Bucket) error { return b.Delete(t.Context(), key) },
		"replaced": func(b *memblob.Bucket) error {
			if err := b.Delete(t.Context(), key); err != nil {
				return err
			}
			return b.Create(t.Context(), key, mustGet(chained(t, 701, broken), key))
		},
	} {
		tests := []struct {
			generations int
			hint        uint64 // copied generation; 0 for no hint
			want        uint64
			later       bool
		}{
			{70, 56, broken - 1, true}, {70, 64, 70, false}, {70, 0, broken - 1, true}, {105, 0, 105, false}, {105, 56, 105, false},
		}
		for _, test := range tests[:racetest.Rounds(len(tests), 2)] {
			t.Run(fmt.Sprintf("%s, %d generations, hint %d", name, test.generations, test.hint), func(t *testing.T) {
				bucket := chained(t, 700, test.generations)
				if err := bucket.Delete(t.Context(), layout.HintKey(0)); err != nil {
					t.Fatal(err)
				}
				if test.hint > 0 {
					m, err := manifest.At(t.Context(), bucket, 0, test.hint)
					if err == nil {
						err = manifest.PutHint(t.Context(), bucket, m)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				if err := harm(bucket); err != nil {
					t.Fatal(err)
				}
				m, err := manifest.Read(t.Context(), bucket, 0)
				if err != nil || m.Generation != test.want || indexed(m) != test.want-1 || (m.Later() != nil) != test.later {
					t.Errorf("read generation %d with %d indexed, later %v, %v", m.Generation, indexed(m), m.Later(), err)
				}
				if _, err := manifest.At(t.Context(), bucket, 0, broken+2); !errors.Is(err, manifest.ErrDamaged) {
					t.Errorf("generation %d after the broken one: %v", broken+2, err)
				}
				if m, err := manifest.AsOf(t.Context(), bucket, 0, at(broken+2)()); !test.later && (err != nil || m.Generation != broken-1) {
					t.Errorf("as of a time after the broken one: generation %d, %v", m.Generation, err)
				}
				_, err = manifest.Commit(t.Context(), bucket, 0, at(1000), pack(9))
				if errors.Is(err, manifest.ErrDamaged) != test.later || (err != nil) != test.later {
					t.Errorf("committed with %v", err)
				}
			})
		}
	}
}

// TestCommitAfterWhatIsLost commits on a generation that the committer has read, and that was lost or
// replaced since. The commit must begin from what is stored.
func TestCommitAfterWhatIsLost(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(*memblob.Bucket) error
		want uint64
	}{
		"nothing": {func(*memblob.Bucket) error { return nil }, 21},
		"made anew": {func(b *memblob.Bucket) error {
			m, err := manifest.Read(t.Context(), b, 0)
			if err != nil {
				return err
			}
			m.Generation, m.Oldest, m.Parent = 1020, 1020, m.Hash()
			return manifest.Refound(t.Context(), b, m)
		}, 1021},
		"deleted, and the hint is old": {func(b *memblob.Bucket) error { return b.Delete(t.Context(), layout.ManifestKey(0, 20)) }, 20},
	} {
		bucket := chained(t, 2000, 20)
		known, err := manifest.Read(t.Context(), bucket, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := test.harm(bucket); err != nil {
			t.Fatal(err)
		}
		m, err := manifest.CommitAfter(t.Context(), bucket, known, at(1000), pack(9))
		if err != nil || m.Generation != test.want {
			t.Errorf("%s: generation %d, %v", name, m.Generation, err)
		}
	}
}

// TestCommitCostsLittle counts the bytes and requests of commits on a partition with 10,000 packages,
// by a committer that knows the newest generation.
func TestCommitCostsLittle(t *testing.T) {
	counted := countblob.New(memblob.New())
	m, err := manifest.Commit(t.Context(), counted, 0, clock, func(m *manifest.Manifest) error { listing(racetest.Rounds(10_000, 2000))(m); return nil })
	if err != nil {
		t.Fatal(err)
	}
	before := counted.Counts()
	const commits = 96
	for n := range commits {
		m, err = manifest.CommitAfter(t.Context(), counted, m, clock, func(m *manifest.Manifest) error { m.Packages[n].Indexed = true; return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	after := counted.Counts()
	got := map[string]int64{"GET": (after.Get - before.Get) / commits, "PUT": (after.Put - before.Put) * 8 / commits, "HEAD": after.Head, "LIST": after.List - before.List}
	if diff := cmp.Diff(map[string]int64{"GET": 2, "PUT": 9, "HEAD": 0, "LIST": 0}, got); diff != "" { // 9 PUTs for 8 commits
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	stored := int64(0)
	for object, err := range counted.List(t.Context(), layout.ManifestPrefix(0), layout.ManifestKey(0, 1)) {
		if err != nil {
			t.Fatal(err)
		}
		stored += object.Size
	}
	if stored/commits > 1<<10 {
		t.Errorf("a delta takes %d bytes", stored/commits)
	}
	t.Logf("%d bytes a delta", stored/commits)
}
