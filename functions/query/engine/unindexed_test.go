package engine

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// TestUnindexed checks that a snapshot counts the pages in those packages that are not indexed yet.
func TestUnindexed(t *testing.T) {
	s := snapshot{generations: generations{manifests: []manifest.Manifest{
		{Packages: []manifest.Package{{Pages: 3, Indexed: true}, {Pages: 12}}}, {Packages: []manifest.Package{{Pages: 5}}},
	}}}
	if n := s.unindexed(); n != 17 {
		t.Errorf("%d pages wait, want 17", n)
	}
}
