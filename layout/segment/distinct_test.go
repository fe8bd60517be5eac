package segment

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDistinct(t *testing.T) {
	content := mustBuild(t, generate(20, 1), 0)
	seen := map[string]bool{string(content): true}
	for _, number := range []uint64{1, 2, 300, 1<<64 - 1} {
		other := Distinct(content, number)
		if seen[string(other)] {
			t.Errorf("number %d makes bytes that there are already", number)
		}
		seen[string(other)] = true
		if err := Check(other); err != nil {
			t.Errorf("number %d: %v", number, err)
		}
		if d := cmp.Diff(allStored(t, mustOpen(t, content)), allStored(t, mustOpen(t, other))); d != "" {
			t.Errorf("number %d (-want +got)\n%s", number, d)
		}
		if !bytes.Equal(content, Distinct(other, 0)) {
			t.Errorf("number 0 of number %d is not what was built", number)
		}
	}
}
