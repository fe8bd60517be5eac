package manifest

import (
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// TestNewer: from whichever generation, with and without a hint, the newest is
// found; when that is known already, by one GET.
func TestNewer(t *testing.T) {
	bucket := countblob.New(memblob.New())
	var generations []Manifest
	for range 4 {
		m, err := Commit(t.Context(), bucket, 3, time.Now, func(m *Manifest) error {
			m.Next++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		generations = append(generations, m)
	}
	newest := generations[len(generations)-1]
	for _, hint := range []bool{true, false} {
		for _, known := range append(generations, Manifest{Partition: 3}) {
			before := bucket.Counts().Get
			found, err := Newer(t.Context(), bucket, known)
			if err != nil || found.Hash() != newest.Hash() {
				t.Errorf("from generation %d, hint %v: %d, %v", known.Generation, hint, found.Generation, err)
			}
			if gets := bucket.Counts().Get - before; known.Generation == newest.Generation && gets != 1 {
				t.Errorf("nothing is newer: %d GETs", gets)
			}
		}
		if err := bucket.Delete(t.Context(), layout.HintKey(3)); err != nil {
			t.Fatal(err)
		}
	}
}
