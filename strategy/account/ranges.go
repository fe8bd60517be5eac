package account

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// The hash space of URLs is divided into ranges, and the account of one range is made after that of another. So
// the memory does not depend on the number of URLs in the bucket.
//
// The sizes of the blocks in the books tell about how many bytes a range has. If a range has more URLs than these
// bytes suggest, its account becomes too large, and the range is divided in two.
const (
	maxURLs    = 60_000  // maximum number of URLs, and of further paths to them, in the account of a range
	rangeBytes = 2 << 20 // planned size of a range in bytes of the books, which are compressed
	pieceBytes = 1 << 16 // size of a piece of a book; within it, bytes count as evenly spread (see Divide)
)

// Ranges divides the given range of the hash space into smaller ranges, and yields the account of each, in the
// order of their places. Each account has at most about sixty thousand URLs; it may have more only if these share
// one place. An error ends the sequence. If the Bucket comes from Read, a lost or damaged book is such an error.
func (b *Bucket) Ranges(ctx context.Context, within layout.Range) iter.Seq2[*Account, error] {
	return func(yield func(*Account, error) bool) {
		most := b.most
		todo := b.Divide(within, rangeBytes)
		for len(todo) > 0 {
			next := todo[0]
			a, err := b.account(ctx, b.settings, next, most)
			if errors.Is(err, errTooLarge) {
				middle := middleOf(next)
				todo = slices.Insert(todo, 0, layout.Range{From: next.From, To: middle})
				todo[1].From = middle
				continue
			}
			if err == nil && b.strict {
				err = errors.Join(b.Faults()...)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(a, nil) {
				return
			}
			todo = todo[1:]
		}
	}
}

// Divide divides a range of the hash space into ranges with about the given number of bytes of the books, in the
// order of their places. It sends no request.
func (b *Bucket) Divide(within layout.Range, bytes int64) (ranges []layout.Range) {
	most := float64(bytes)
	type change struct {
		at layout.Place
		by float64 // by how much the density changes at this place, in bytes per place
	}
	var changes []change
	for _, v := range b.books {
		if v.Err != nil {
			continue
		}
		for _, p := range v.reader.Parts(within, pieceBytes) {
			density := float64(p.Bytes) / p.Width()
			changes = append(changes, change{p.From, density})
			if p.To != 0 {
				changes = append(changes, change{p.To, -density})
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	next, density, size := within, 0.0, 0.0
	for i, c := range changes {
		density += c.by
		till := within.To
		if i+1 < len(changes) {
			till = changes[i+1].at
		}
		at := c.at
		if at == till && (i+1 < len(changes) || till != 0) { // from 0 to 0 are all places, otherwise none
			continue
		}
		for {
			left := layout.Range{From: at, To: till}.Width()
			step := max(1, (most-size)/density)
			if size+left*density < most || step > left*0.999 { // no range of its own for a small last piece
				size += left * density
				break
			}
			at += layout.Place(step)
			next.To = at
			ranges = append(ranges, next)
			next, size = layout.Range{From: at, To: within.To}, 0
		}
	}
	return append(ranges, next)
}

// middleOf returns the place in the middle of a range.
func middleOf(r layout.Range) layout.Place {
	if r == (layout.Range{}) {
		return 1 << 63
	}
	return r.From + (r.To-r.From)/2
}

// isSingle reports whether a range has only one place, so that it cannot be divided.
func isSingle(r layout.Range) bool { return r.To-r.From == 1 }

// All yields the state of every URL in the given range of the hash space, as Ranges does. For a malformed URL in
// the books it yields an error and goes on; any other error ends the sequence.
func (b *Bucket) All(ctx context.Context, within layout.Range) iter.Seq2[URL, error] {
	return func(yield func(URL, error) bool) {
		b.paces = paces{}
		for a, err := range b.Ranges(ctx, within) {
			if err != nil {
				yield(URL{}, err)
				return
			}
			for u, err := range a.All() {
				if !yield(u, err) {
					return
				}
			}
			for p := range a.Paces() {
				b.paces.join(p)
			}
		}
	}
}

// Paces yields the Pace that is in force for each host, whose URLs the last call of All has yielded.
func (b *Bucket) Paces() iter.Seq[Pace] { return b.paces.all() }
