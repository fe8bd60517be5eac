package manifest_test

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

func TestClosed(t *testing.T) {
	var m manifest.Manifest
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
	check(5, 8, true) // older than all that is remembered
	check(10, 2, false)
	check(80, 1, false)
}
