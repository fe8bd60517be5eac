package numbered

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// If a version is damaged, Find reports it and returns its copy or, without a copy, the version
// before. The next version that is published gets a number above that of the damaged one.
func TestDamagedNewest(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"empty":      func([]byte) []byte { return nil },
		"zeros":      func(b []byte) []byte { return make([]byte, len(b)) },
		"cut off":    func(b []byte) []byte { return b[:len(b)/2] },
		"one bit":    func(b []byte) []byte { b[11] ^= 1; return b },
		"in the sum": func(b []byte) []byte { b[len(b)-5] ^= 1; return b },
	} {
		t.Run(name, func(t *testing.T) {
			bucket := memblob.New()
			for _, name := range []string{"a", "b", "c"} {
				if _, _, err := store.Publish(t.Context(), bucket, adding(name)); err != nil {
					t.Fatal(err)
				}
			}
			for _, version := range []uint64{2, 3} {
				key := layout.ControlKey(version)
				content, err := bucket.Get(t.Context(), key, blob.Range{})
				if err == nil {
					err = bucket.Replace(t.Context(), key, damage(content))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			found, err := store.Find(t.Context(), bucket)
			if err != nil || found.Version != 3 || len(found.Damaged) != 1 || !found.Damaged[0].Copied || len(found.Document.Names) != 3 {
				t.Fatalf("found %+v, %v; want what the copy says", found, err)
			}
			if _, version, err := store.Publish(t.Context(), bucket, adding("c")); err != nil || version != 3 {
				t.Errorf("published again what the copy says as version %d, %v", version, err)
			}
			for _, version := range []uint64{2, 3} {
				if err := bucket.Replace(t.Context(), layout.CopyKey(layout.ControlKey(version)), nil); err != nil {
					t.Fatal(err)
				}
			}
			found, err = store.Find(t.Context(), bucket)
			if err != nil || found.Version != 1 || found.Highest != 3 || len(found.Damaged) != 2 || found.Lost() != nil {
				t.Fatalf("found %+v, %v", found, err)
			}
			if diff := cmp.Diff(names{[]string{"a"}}, found.Document); diff != "" {
				t.Error(diff)
			}
			if d := found.Damaged[0]; d.Key != layout.ControlKey(3) || d.Instead != 1 {
				t.Errorf("named %+v", d)
			}
			if published, version, err := store.Publish(t.Context(), bucket, adding("d")); err != nil || version != 4 || !cmp.Equal(published, names{[]string{"a", "d"}}) {
				t.Errorf("published %v as version %d, %v", published, version, err)
			}
		})
	}
}

// If no version of a document can be read, Publish fails and stores nothing. But if the Store has a
// function Recover, Publish succeeds: the new version has what Recover found in the damaged bytes.
func TestAllDamaged(t *testing.T) {
	bucket := memblob.New()
	if err := bucket.Create(t.Context(), layout.ControlKey(1), []byte{0, 0}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Newest(t.Context(), bucket); !errors.Is(err, ErrDamaged) {
		t.Errorf("newest: %v", err)
	}
	_, _, err := store.Publish(t.Context(), bucket, adding("a"))
	const want = "controls/000000000001.json cannot be read (it is damaged: invalid character '\\x00' looking for beginning of value), " +
		"and no version before it can be read; run `bucketsearch verify --repair`, or publish it again: no version of it can be read"
	if !errors.Is(err, ErrDamaged) || err.Error() != want {
		t.Errorf("publish: %v", err)
	}
	recovering := store
	recovering.Recover = func(n names, damaged []byte) names { return names{append(n.Names, string(damaged))} }
	if published, version, err := recovering.Publish(t.Context(), bucket, adding("a")); err != nil || version != 2 || !cmp.Equal(published, names{[]string{"\x00\x00", "a"}}) {
		t.Errorf("published %q as version %d, %v", published, version, err)
	}
}
