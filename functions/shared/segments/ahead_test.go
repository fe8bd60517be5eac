package segments

import (
	"slices"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

func TestAhead(t *testing.T) {
	a := newAhead()
	for _, n := range []int{0, 1, aheadTokens, aheadTokens + 1, 3 * aheadChunks * aheadTokens} {
		tokens := make([]segment.Token, n)
		for i := range tokens {
			tokens[i].Position = uint32(i)
		}
		if got := slices.Collect(a.of(slices.Values(tokens))); !slices.Equal(tokens, got) {
			t.Errorf("of %d tokens it made %d", n, len(got))
		}
		taken := 0
		for range a.of(slices.Values(tokens)) {
			if taken++; taken == 2 {
				break
			}
		}
		if taken != min(n, 2) {
			t.Errorf("of %d tokens %d were taken, want 2", n, taken)
		}
	}
	defer func() {
		if reason := recover(); reason != "broken" {
			t.Errorf("it panicked with %v", reason)
		}
	}()
	for range a.of(func(yield func(segment.Token) bool) { yield(segment.Token{}); panic("broken") }) {
	}
}
