package numbered

import (
	"bytes"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// A damaged or deleted version is restored from its copy, and a copy from its version. If both
// are damaged, nothing is restored.
func TestRestore(t *testing.T) {
	version := layout.ControlKey(1)
	published := memblob.New()
	if _, _, err := store.Publish(t.Context(), published, adding("a")); err != nil {
		t.Fatal(err)
	}
	want, err := published.Get(t.Context(), version, blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{version, layout.CopyKey(version)} {
		for name, damage := range map[string]func(bucket blob.Bucket) error{
			"deleted": func(bucket blob.Bucket) error { return bucket.Delete(t.Context(), key) },
			"damaged": func(bucket blob.Bucket) error { return bucket.Replace(t.Context(), key, want[:9]) },
			"whole":   func(blob.Bucket) error { return nil },
		} {
			bucket := memblob.New()
			for _, key := range []string{version, layout.CopyKey(version)} {
				if err := bucket.Create(t.Context(), key, want); err != nil {
					t.Fatal(err)
				}
			}
			if err := damage(bucket); err != nil {
				t.Fatal(err)
			}
			restored, err := Restore(t.Context(), bucket, key)
			if got, _, findErr := blob.Find(t.Context(), bucket, key); !restored || err != nil || findErr != nil || !bytes.Equal(got, want) {
				t.Errorf("%s %s: restored %v: %q, %v, %v", key, name, restored, got, err, findErr)
			}
		}
	}
	for _, key := range []string{version, layout.CopyKey(version)} {
		if err := published.Replace(t.Context(), key, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if restored, err := Restore(t.Context(), published, version); restored || err != nil {
		t.Errorf("restored from a damaged copy: %v, %v", restored, err)
	}
}

// Publishing a document that equals the one in force writes nothing, so that it succeeds on a
// read-only bucket, too.
func TestUnchangedIsNotWritten(t *testing.T) {
	bucket := countblob.New(memblob.New())
	for range 2 {
		if _, version, err := store.Publish(t.Context(), bucket, adding("a")); err != nil || version != 1 {
			t.Fatalf("version %d, %v", version, err)
		}
	}
	if n := bucket.Counts(); n.Put != 3 {
		t.Errorf("%d PUT, want one each of the version, its copy and the hint", n.Put)
	}
}

// If a publisher is killed after it has stored a version and before it stores the version's copy, the
// next publisher of the same document stores the copy. A version without a seal (a checksum, see
// layout.Seal) gets no copy.
func TestCopyKeptLater(t *testing.T) {
	bucket := memblob.New()
	for _, unsealed := range []bool{false, true} {
		key := layout.ControlKey(1)
		if _, _, err := store.Publish(t.Context(), bucket, adding("a")); err != nil {
			t.Fatal(err)
		}
		if err := bucket.Delete(t.Context(), layout.CopyKey(key)); err != nil {
			t.Fatal(err)
		}
		if unsealed {
			if err := bucket.Replace(t.Context(), key, []byte(`{"names":["a"]}`)); err != nil {
				t.Fatal(err)
			}
		}
		if _, version, err := store.Publish(t.Context(), bucket, adding("a")); err != nil || version != 1 {
			t.Fatalf("version %d, %v", version, err)
		}
		if _, found, err := blob.Find(t.Context(), bucket, layout.CopyKey(key)); err != nil || found == unsealed {
			t.Errorf("unsealed %v: the copy is there: %v, %v", unsealed, found, err)
		}
	}
}
