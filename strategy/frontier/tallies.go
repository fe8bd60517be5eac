package frontier

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
)

// markBytes is the length of a mark. Two names share a mark only among billions.
const markBytes = 8

// mark returns the hash that stands for the name of a tally in the states of URLs.
func mark(name string) string {
	sum := sha256.Sum256([]byte(name))
	return string(sum[:markBytes])
}

// Tallies returns how many stored URLs count on each of these tallies. Result and
// Known name the tallies on which a URL counts.
func (f *Frontier) Tallies(ctx context.Context, names []string) ([]int64, error) {
	marks := make([]string, len(names))
	for i, name := range names {
		marks[i] = mark(name)
	}
	numbers, err := f.numbers(ctx, "tallies", marks)
	return numbers, f.wrap("read tallies of", err)
}

// Out returns, for each of these collections, the number of its URLs that are leased
// for the first time. They count until their lease ends. So a caller that calls Out
// before Tallies counts a URL that is settled in between at least once.
func (f *Frontier) Out(ctx context.Context, collections []string) ([]int64, error) {
	numbers, err := f.numbers(ctx, "out", collections)
	return numbers, f.wrap("read what is out of", err)
}

// numbers reads fields of a hash; an absent field is 0.
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
