package frontier

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
)

// markBytes is the length of a mark: only among billions of names two may be
// expected to share one.
const markBytes = 8

// mark stands for the name of a tally with each URL that counts on it.
func mark(name string) string {
	sum := sha256.Sum256([]byte(name))
	return string(sum[:markBytes])
}

// Tallies returns how many URLs that are stored, asked again or not, count on
// each of these names. Result and Known say on which a URL counts.
func (f *Frontier) Tallies(ctx context.Context, names []string) ([]int64, error) {
	tallies := make([]int64, 0, len(names))
	for part := range slices.Chunk(names, chunk) {
		marks := make([]string, len(part))
		for i, name := range part {
			marks[i] = mark(name)
		}
		values, err := f.rdb.HMGet(ctx, f.key("tallies"), marks...).Result()
		if err != nil {
			return nil, f.failed("read tallies of", err)
		}
		for i, value := range values {
			var n int64
			if s, counted := value.(string); counted {
				if n, err = strconv.ParseInt(s, 10, 64); err != nil {
					return nil, f.failed("read tallies of", fmt.Errorf("%s: %w", part[i], err))
				}
			}
			tallies = append(tallies, n)
		}
	}
	return tallies, nil
}
