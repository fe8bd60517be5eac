package frontier

import (
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Known is a URL with a final state, to be entered in a frontier by Mark.
type Known struct {
	ID      layout.Identity
	Version layout.Version // version of the batch with the final outcome
	State   book.State     // Stored, Unchanged, Skipped or Failed
	Depth   uint16
	Tallies []string // names of the tallies (counts of stored URLs) that include the URL while it is stored
}

// Mark sets the final states of URLs while a frontier is rebuilt; at other times Settle sets
// them. A URL that has a final state of the same or a higher version keeps it. Mark may be
// called before Open.
func (f *Frontier) Mark(ctx context.Context, known []Known) error {
	for part := range slices.Chunk(known, chunk) {
		args := make([]any, 0, 2*len(part))
		for _, k := range part {
			value, final := finalState(k.State, k.Depth, k.Version, k.Tallies)
			if !final {
				return f.failed("mark in", fmt.Errorf("%s: state %q is not final", k.ID, k.State))
			}
			args = append(args, string(k.ID[:]), value)
		}
		if err := f.run(ctx, markScript, args...).Err(); err != nil {
			return f.failed("mark in", err)
		}
	}
	return nil
}

// finalState encodes a final state of a URL, as doc.go draws it: the letter of the state, the depth,
// and the version of the batch with the outcome. For a stored page, it appends a mark for each tally
// (count of stored URLs) that includes the URL. The result is false if the state is not final: it is
// none of Stored, Unchanged, Skipped and Failed.
func finalState(s book.State, depth uint16, v layout.Version, tallies []string) (string, bool) {
	letter := s
	switch s {
	case book.Stored, book.Skipped, book.Failed:
	case book.Unchanged:
		letter = book.Stored
	default:
		return "", false
	}
	value := string([]byte{byte(letter), byte(depth >> 8), byte(depth)}) + v.String()
	if letter == book.Stored {
		for _, name := range tallies {
			value += mark(name)
		}
	}
	return value, true
}
