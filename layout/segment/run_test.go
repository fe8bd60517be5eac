package segment

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAscending(t *testing.T) {
	texts := []string{"", "b", "a\x00", "a", "abcdefgh", "abcdefghi", "abcdefg", "abcdefghh", "ä", "z", "a\x00b"} // index 0 means none
	var got []string
	for _, i := range ascending(len(texts), func(i int) string { return texts[i] }) {
		got = append(got, texts[i])
	}
	if diff := cmp.Diff(slices.SortedFunc(slices.Values(texts[1:]), strings.Compare), got); diff != "" {
		t.Error(diff)
	}
}
