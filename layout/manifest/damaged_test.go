package manifest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// harmed returns a bucket with five generations, committed a minute apart, some of which were then
// replaced or deleted.
func harmed(t *testing.T, replaced map[string][]byte, deleted ...string) *memblob.Bucket {
	t.Helper()
	bucket := memblob.New()
	for n := range uint64(5) {
		now := func() time.Time { return noon.Add(time.Duration(n+1) * time.Minute) }
		if _, err := manifest.Commit(t.Context(), bucket, 0, now, pack(n+1)); err != nil {
			t.Fatal(err)
		}
	}
	for key, content := range replaced {
		if err := bucket.Replace(t.Context(), key, content); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range deleted {
		if err := bucket.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	return bucket
}

// TestReadBesideDamage damages the newest generation. Read must return the generation before it,
// and Commit must fail. Objects of other programs must change nothing.
func TestReadBesideDamage(t *testing.T) {
	hint, zeroes := layout.HintKey(0), make([]byte, 200)
	key := func(n uint64) string { return layout.ManifestKey(0, n) }
	other := func() []byte {
		bucket := memblob.New()
		if _, err := manifest.Commit(t.Context(), bucket, 1, clock, func(*manifest.Manifest) error { return nil }); err != nil {
			t.Fatal(err)
		}
		content, err := bucket.Get(t.Context(), layout.ManifestKey(1, 1), blob.Range{})
		if err != nil {
			t.Fatal(err)
		}
		return content
	}()
	for name, test := range map[string]struct {
		replaced map[string][]byte
		deleted  []string
		want     uint64 // generation that Read returns; 0 if none can be read
		later    bool
	}{
		"the newest, of which the hint is a copy":    {map[string][]byte{key(5): zeroes}, nil, 5, false},
		"the newest and the hint":                    {map[string][]byte{key(5): zeroes, hint: zeroes}, nil, 4, true},
		"the newest, and the hint is lost":           {map[string][]byte{key(5): zeroes}, []string{hint}, 4, true},
		"the newest, and it is empty":                {map[string][]byte{key(5): nil, hint: nil}, nil, 4, true},
		"the newest three":                           {map[string][]byte{key(5): zeroes, key(4): nil, key(3): zeroes}, []string{hint}, 2, true},
		"all":                                        {map[string][]byte{key(5): nil, key(4): nil, key(3): nil, key(2): nil, key(1): nil}, []string{hint}, 0, false},
		"all but the hint":                           {map[string][]byte{key(5): nil, key(4): nil, key(3): nil, key(2): nil, key(1): nil}, nil, 5, false},
		"one in the middle":                          {map[string][]byte{key(3): zeroes}, []string{hint}, 5, false},
		"a foreign object":                           {map[string][]byte{layout.ManifestPrefix(0) + "notes.txt": nil}, []string{hint}, 5, false},
		"foreign objects that sort behind and ahead": {map[string][]byte{layout.ManifestPrefix(0) + "zzz": nil, layout.ManifestPrefix(0) + "!": nil}, []string{hint}, 5, false},
		"one of another partition":                   {map[string][]byte{key(6): other}, []string{hint}, 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			bucket := harmed(t, test.replaced, test.deleted...)
			m, err := manifest.Read(t.Context(), bucket, 0)
			if test.want == 0 {
				if !errors.Is(err, manifest.ErrDamaged) {
					t.Fatalf("read generation %d, %v", m.Generation, err)
				}
				return
			}
			if err != nil || m.Generation != test.want || (m.Later() != nil) != test.later {
				t.Fatalf("read generation %d, later %v, %v; want %d", m.Generation, m.Later(), err, test.want)
			}
			if newer, err := manifest.Newer(t.Context(), bucket, m); err != nil || newer.Generation != test.want {
				t.Errorf("newer is generation %d, %v", newer.Generation, err)
			}
			if _, err := manifest.Commit(t.Context(), bucket, 0, clock, pack(9)); (err != nil) != test.later || test.later && !errors.Is(err, manifest.ErrDamaged) {
				t.Errorf("committed with %v", err)
			}
		})
	}
}

// TestNewerBesideDamage checks that Newer returns the given generation if the next one is damaged.
func TestNewerBesideDamage(t *testing.T) {
	zeroes := make([]byte, 200)
	whole := harmed(t, nil)
	for _, from := range []uint64{4, 5} {
		bucket := harmed(t, map[string][]byte{layout.ManifestKey(0, 5): zeroes}, layout.HintKey(0))
		m, err := manifest.At(t.Context(), whole, 0, from)
		if err != nil {
			t.Fatal(err)
		}
		if newer, err := manifest.Newer(t.Context(), bucket, m); err != nil || newer.Generation != from {
			t.Errorf("after generation %d comes %d, %v", from, newer.Generation, err)
		}
	}
}

// TestAsOfBesideDamage damages generation 3 of 5, which are all stored whole. If generation 3 was in force at the
// given time, AsOf must return generation 2. At other times it must return the generation that was in force.
func TestAsOfBesideDamage(t *testing.T) {
	defer func(former int) { manifest.Small = former }(manifest.Small)
	manifest.Small = 16 << 10
	bucket := harmed(t, map[string][]byte{layout.ManifestKey(0, 3): nil})
	for n := uint64(1); n <= 5; n++ {
		want := n
		if n == 3 {
			want = 2
		}
		if m, err := manifest.AsOf(t.Context(), bucket, 0, noon.Add(time.Duration(n)*time.Minute)); err != nil || m.Generation != want {
			t.Errorf("as of minute %d: generation %d, %v", n, m.Generation, err)
		}
	}
}

// TestLaterFormat checks that a generation in the format of a later program does not count as damaged:
// Read fails, and does not return the generation before it.
func TestLaterFormat(t *testing.T) {
	content := []byte(`{"format":4,"partition":0,"generation":6}`)
	sum := layout.ContentHash(content)
	content = append(content[:len(content)-1], `,"sum":"`+sum+"\"}\n"...)
	bucket := harmed(t, map[string][]byte{layout.ManifestKey(0, 6): content}, layout.HintKey(0))
	if m, err := manifest.Read(t.Context(), bucket, 0); err == nil || errors.Is(err, manifest.ErrDamaged) {
		t.Errorf("read generation %d, %v", m.Generation, err)
	}
}
