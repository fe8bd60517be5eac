package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

func TestAddGone(t *testing.T) {
	gone := func(id byte, token uint64, masked bool) Gone {
		return Gone{layout.Identity{id}, layout.Version{Epoch: 1, Token: token}, masked}
	}
	var m Manifest
	m.AddGone(gone(2, 5, false), gone(1, 7, false), gone(2, 4, false))
	m.Gone[1].Masked = true
	for _, again := range []Gone{gone(2, 5, false), gone(2, 3, false), gone(3, 1, false), gone(3, 2, false)} {
		m.AddGone(again)
	}
	if diff := cmp.Diff([]Gone{gone(1, 7, false), gone(2, 5, true), gone(3, 2, false)}, m.Gone); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	m.AddGone(gone(2, 6, false))
	if g := m.FindGone(layout.Identity{2}); g == nil || *g != gone(2, 6, false) {
		t.Errorf("found %+v, want what is to be masked again", g)
	}
	if g := m.FindGone(layout.Identity{4}); g != nil {
		t.Errorf("found %+v, which is not listed", g)
	}
}

// What is gone survives being stored, and an edit does not change its base.
func TestGoneIsStored(t *testing.T) {
	m := Manifest{Generation: 1}
	m.AddGone(Gone{ID: layout.IdentityOf("http://a/"), Version: layout.Version{Epoch: 1, Token: 2}})
	next := m.Clone()
	next.Gone[0].Masked = true
	content, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Decode(0, content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.Gone, read.Gone); diff != "" || read.Gone[0].Masked {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
}
