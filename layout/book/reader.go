package book

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// suffix is how much of a book Open asks for; maxGet how much of it one
// request of a ranged read brings.
const (
	suffix = 64 << 10
	maxGet = 4 << 20
)

// Reader reads parts of a book. It is safe for concurrent use.
type Reader struct {
	name      string // for errors
	get       func(ctx context.Context, r blob.Range) ([]byte, error)
	directory directory
	tail      []byte    // the end of the book, as far as it is in memory
	decoders  sync.Pool // of *zstd.Decoder

	mu      sync.Mutex
	sources []layout.Identity // nil until asked for
}

// Open reads a book's directory with one request for its end, or two when the
// directory is very large. What the book's end holds is not asked for again,
// so that a small book is read whole by Open.
func Open(ctx context.Context, r blob.Reader, key string) (*Reader, error) {
	get := func(ctx context.Context, at blob.Range) ([]byte, error) { return r.Get(ctx, key, at) }
	fail := func(err error) (*Reader, error) { return nil, fmt.Errorf("cannot read book %s: %w", key, err) }
	tail, err := get(ctx, blob.Range{Offset: -suffix})
	switch {
	case errors.Is(err, blob.ErrRange):
		return fail(fmt.Errorf("%w: it is empty", ErrDamaged))
	case err != nil:
		return fail(err)
	}
	size, _, err := directorySize(tail)
	if err != nil {
		return fail(fmt.Errorf("%w: %w", ErrDamaged, err))
	}
	if size += footerSize; size > len(tail) && len(tail) == suffix {
		if tail, err = get(ctx, blob.Range{Offset: -int64(size)}); err != nil {
			return fail(err)
		}
	}
	return newReader("book "+key, tail, get)
}

// newReader makes a Reader of which the end of the book is in memory.
func newReader(name string, tail []byte, get func(context.Context, blob.Range) ([]byte, error)) (*Reader, error) {
	r := &Reader{name: name, get: get, tail: tail}
	var err error
	if r.directory, err = parseDirectory(tail); err != nil {
		return nil, r.damaged(err)
	}
	if r.directory.size < int64(len(tail)) {
		return nil, r.damaged(fmt.Errorf("its directory speaks of %d bytes, there are at least %d", r.directory.size, len(tail)))
	}
	if magic := r.directory.version.magic(); r.directory.size == int64(len(tail)) && string(tail[:magicSize]) != magic {
		return nil, r.damaged(fmt.Errorf("it begins with %q, want %q", tail[:magicSize], magic))
	}
	return r, nil
}

func (r *Reader) damaged(err error) error {
	return fmt.Errorf("cannot read %s: %w: %w", r.name, ErrDamaged, err)
}

// Counts returns how many outcomes and links the book holds. It asks for
// nothing.
func (r *Reader) Counts() (outcomes, links int) {
	for _, b := range r.directory.outcomes {
		outcomes += int(b.count)
	}
	for _, b := range r.directory.links {
		links += int(b.count)
	}
	return outcomes, links
}

// Outcomes yields the outcomes whose places are in the range, sorted by place,
// identity and version. It reads only the blocks that the range touches, 4 MiB
// a request. An error ends the sequence. Outcomes share their Collections,
// which must not be changed.
func (r *Reader) Outcomes(ctx context.Context, within layout.Range) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		var rows outcomeReader
		for b, err := range r.blocks(ctx, "outcomes", r.directory.outcomes, within) {
			if err == nil {
				var going bool
				if going, err = b.outcomes(&rows, within, yield); !going {
					return
				}
			}
			if err != nil {
				yield(Outcome{}, err)
				return
			}
		}
	}
}

// Links yields the links whose targets are in the range, sorted by the place
// and identity of the target; those to one target come in an order that
// depends on the contents of the book alone. It reads only the blocks that the
// range touches, 4 MiB a request, and once the table of sources. An error ends
// the sequence.
func (r *Reader) Links(ctx context.Context, within layout.Range) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		var table []layout.Identity
		for row, err := range r.rows(ctx, true, within) {
			if err == nil && table == nil {
				table, err = r.Sources(ctx)
			}
			if err != nil {
				yield(Link{}, err)
				return
			}
			for _, number := range row.sources {
				row.link.Source = table[number]
				if !yield(row.link, nil) {
					return
				}
			}
		}
	}
}

// rows stops at each row of links, whole or not. Where it has stopped, it must
// be left before the next is asked for.
func (r *Reader) rows(ctx context.Context, whole bool, within layout.Range) iter.Seq2[*linkReader, error] {
	return func(yield func(*linkReader, error) bool) {
		rows := linkReader{table: int(r.directory.sources)}
		for b, err := range r.blocks(ctx, "links", r.directory.links, within) {
			if err == nil {
				var going bool
				if going, err = b.links(&rows, whole, within, yield); !going {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// Find returns the outcomes of one URL, the lowest version first, with at most
// one request; none if the book knows none.
func (r *Reader) Find(ctx context.Context, place layout.Place, id layout.Identity) ([]Outcome, error) {
	var found []Outcome
	for o, err := range r.Outcomes(ctx, layout.Range{From: place, To: place + 1}) {
		if err != nil {
			return nil, err
		}
		if o.Identity() == id {
			found = append(found, o)
		}
	}
	return found, nil
}

// Sources returns the identities of all pages with links. It asks for them
// once.
func (r *Reader) Sources(ctx context.Context) ([]layout.Identity, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sources != nil {
		return r.sources, nil
	}
	b, err := r.read(ctx, r.directory.sourcesOffset, int64(r.directory.sources)*int64(identitySize))
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(b, castagnoli) != r.directory.sourcesCRC {
		return nil, r.damaged(fmt.Errorf("sources at byte %d: checksum does not match", r.directory.sourcesOffset))
	}
	sources := make([]layout.Identity, r.directory.sources)
	for i := range sources {
		sources[i] = layout.Identity(b[i*identitySize:])
	}
	r.sources = sources
	return sources, nil
}

// read returns bytes of the book, from memory where they are there.
func (r *Reader) read(ctx context.Context, offset, size int64) ([]byte, error) {
	if at := offset - (r.directory.size - int64(len(r.tail))); at >= 0 {
		return r.tail[at : at+size], nil
	}
	b, err := r.get(ctx, blob.Range{Offset: offset, Length: size})
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", r.name, err)
	}
	if int64(len(b)) != size {
		return nil, r.damaged(fmt.Errorf("byte %d: %d bytes where the directory speaks of %d", offset, len(b), size))
	}
	return b, nil
}
