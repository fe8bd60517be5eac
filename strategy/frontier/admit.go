package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Admit lets unknown URLs wait, and returns how many there were. Known ones
// stay as they are, but one that waits and was now found at a smaller depth
// moves up, keeping its attempts. It works before Open too.
func (f *Frontier) Admit(ctx context.Context, now time.Time, entries []Entry) (added int, err error) {
	byHost := slices.Clone(entries) // so that a chunk touches few queues
	slices.SortStableFunc(byHost, func(a, b Entry) int { return strings.Compare(a.Host, b.Host) })
	for part := range slices.Chunk(byHost, chunk) {
		args := make([]any, 0, 1+2*len(part))
		args = append(args, now.UnixMilli())
		for _, e := range part {
			element, err := e.element()
			if err == nil && e.Host == "" {
				err = fmt.Errorf("URL %s has no host", e.URL)
			}
			if err != nil {
				return added, f.failed("admit to", err)
			}
			args = append(args, e.Host, element)
		}
		n, err := f.run(ctx, admitScript, args...).Int()
		if err != nil {
			return added, f.failed("admit to", err)
		}
		added += n
	}
	return added, nil
}

// Known is a URL with its final state.
type Known struct {
	ID      layout.Identity
	Version layout.Version // the batch that decided
	State   book.State     // Stored, Unchanged, Skipped or Failed
	Depth   uint16
}

// Mark gives URLs their final states, known or not: a rebuild's part of what
// Settle does. Of two final states the one of the higher version stays. It
// works before Open too.
func (f *Frontier) Mark(ctx context.Context, known []Known) error {
	for part := range slices.Chunk(known, chunk) {
		args := make([]any, 0, 2*len(part))
		for _, k := range part {
			value, final := finalState(k.State, k.Depth, k.Version)
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

// finalState writes a state as doc.go draws it, and reports whether it is one
// that is final.
func finalState(s book.State, depth uint16, v layout.Version) (string, bool) {
	letter := s
	switch s {
	case book.Stored, book.Skipped, book.Failed:
	case book.Unchanged:
		letter = book.Stored
	default:
		return "", false
	}
	return string([]byte{byte(letter), byte(depth >> 8), byte(depth)}) + v.String(), true
}
