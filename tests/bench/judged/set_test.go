package judged

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	want := Set{"one": {"http://a/1", "http://a/2"}, "two words": {"http://a/2"}}
	prefix := t.TempDir() + "/below/some-"
	if err := want.Write(prefix); err != nil {
		t.Fatal(err)
	}
	got, err := Read(prefix)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := Read(t.TempDir() + "/none-"); err == nil {
		t.Error("a set that does not exist is read")
	}
}
