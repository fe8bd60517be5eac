package system

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// TestRehearsal stores objects in a rehearsal: they must be read and listed beside the stored ones, and the
// store must stay as it was.
func TestRehearsal(t *testing.T) {
	t.Parallel()
	ctx, stored := t.Context(), memblob.NewAt(func() time.Time { return time.Unix(1, 0) })
	for _, key := range []string{"b", "d"} {
		if err := stored.Create(ctx, key, []byte("stored")); err != nil {
			t.Fatal(err)
		}
	}
	r := rehearsal{stored, memblob.New()}
	for _, key := range []string{"a", "c", "e"} {
		if err := r.Create(ctx, key, []byte("new")); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"b", "c"} {
		if err := r.Create(ctx, key, []byte("new")); !errors.Is(err, blob.ErrExists) {
			t.Errorf("create %s again: %v", key, err)
		}
	}
	if err := r.Replace(ctx, "d", []byte("replaced")); err != nil {
		t.Fatal(err)
	}
	type object struct{ key, content string }
	read := func(b blob.Reader) (all []object) {
		listed, err := blob.List(ctx, b, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range listed {
			content, err := b.Get(ctx, o.Key, blob.Range{})
			if size, errHead := b.Head(ctx, o.Key); err != nil || errHead != nil || size != int64(len(content)) || size != o.Size {
				t.Errorf("%s has %d bytes, %d by Head, %d in the list: %v, %v", o.Key, len(content), size, o.Size, err, errHead)
			}
			all = append(all, object{o.Key, string(content)})
		}
		return all
	}
	if diff := cmp.Diff([]object{{"a", "new"}, {"b", "stored"}, {"c", "new"}, {"d", "replaced"}, {"e", "new"}}, read(r), cmp.AllowUnexported(object{})); diff != "" {
		t.Errorf("the rehearsal (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]object{{"b", "stored"}, {"d", "stored"}}, read(stored), cmp.AllowUnexported(object{})); diff != "" {
		t.Errorf("the store (-want +got):\n%s", diff)
	}
}
