package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

func TestClosed(t *testing.T) {
	var m Manifest
	for _, v := range []layout.Version{{Epoch: 5, Token: 7}, {Epoch: 3, Token: 9}, {Epoch: 5, Token: 4}} {
		m.Close(v)
	}
	check := func(epoch, token uint64, want bool) {
		t.Helper()
		if got := m.IsClosed(layout.Version{Epoch: epoch, Token: token}); got != want {
			t.Errorf("%d-%d is closed: %v, want %v", epoch, token, got, want)
		}
	}
	check(5, 7, true)
	check(5, 8, false)
	check(3, 9, true)
	check(3, 10, false)
	check(4, 1, false)
	check(1, 1, false)
	for epoch := range uint64(64) {
		m.Close(layout.Version{Epoch: 10 + epoch, Token: 1})
	}
	if len(m.Closed) != 64 {
		t.Errorf("%d epochs are remembered, want 64", len(m.Closed))
	}
	check(5, 8, true) // an epoch before all in a full Closed
	check(10, 2, false)
	check(80, 1, false)
}

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

// TestGoneIsStored encodes and decodes a generation: its list Gone (the vanished pages) must stay
// the same. Before that, the test changes the list of a Clone, which must not change the
// generation.
func TestGoneIsStored(t *testing.T) {
	m := Manifest{Generation: 1}
	m.AddGone(Gone{ID: layout.IdentityOf("http://a/"), Version: layout.Version{Epoch: 1, Token: 2}})
	next := m.Clone()
	next.Gone[0].Masked = true
	content, err := m.encode(new(Manifest))
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
