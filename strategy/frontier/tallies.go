package frontier

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
)

// markBytes is the length, in bytes, of a mark: the shortened hash of a tally's name. Two names with
// the same mark are to be expected only among billions of names.
const markBytes = 8

// mark returns the shortened hash that stands in Redis for the name of a tally (a count of stored
// URLs).
func mark(name string) string {
	sum := sha256.Sum256([]byte(name))
	return string(sum[:markBytes])
}

// Tallies returns the values of the named tallies. A tally is a number of stored URLs. The arguments of
// Settle and Mark say which tallies include a URL (see Result.Tallies and Known.Tallies).
func (f *Frontier) Tallies(ctx context.Context, names []string) ([]int64, error) {
	marks := make([]string, len(names))
	for i, name := range names {
		marks[i] = mark(name)
	}
	numbers, err := f.numbers(ctx, "tallies", marks)
	return numbers, f.wrap("read tallies of", err)
}

// Out returns a number for each of these collections: how many of its URLs are leased and have no
// final state yet. Assets are not counted. To count stored and leased URLs together, call Out before
// Tallies: then a URL that is settled in between is counted twice, not left out.
func (f *Frontier) Out(ctx context.Context, collections []string) ([]int64, error) {
	numbers, err := f.numbers(ctx, "out", collections)
	return numbers, f.wrap("read what is out of", err)
}

// numbers returns the numbers in the given fields of a Redis hash; 0 for an absent field. The
// parameter hash is the end of the hash's key.
func (f *Frontier) numbers(ctx context.Context, hash string, fields []string) ([]int64, error) {
	numbers := make([]int64, 0, len(fields))
	for part := range slices.Chunk(fields, chunk) {
		values, err := f.rdb.HMGet(ctx, f.key(hash), part...).Result()
		if err != nil {
			return nil, err
		}
		for i, value := range values {
			var n int64
			if s, found := value.(string); found {
				if n, err = strconv.ParseInt(s, 10, 64); err != nil {
					return nil, fmt.Errorf("%s, %q: %w", hash, part[i], err)
				}
			}
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}
