package book

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// suffix is the number of bytes at the end of a book that Open requests; maxGet is the
// greatest number of bytes in one request for blocks.
const (
	suffix = 64 << 10
	maxGet = 4 << 20
)

// Reader reads parts of a book. It is safe for concurrent use.
type Reader struct {
	name      string // name of the book, for errors
	get       func(ctx context.Context, r blob.Range) ([]byte, error)
	directory directory
	tail      []byte    // the last bytes of the book, which Open has read
	decoders  sync.Pool // pool of *zstd.Decoder, which are reused

	mu      sync.Mutex
	sources []layout.Identity // the table of sources; nil until it is first needed
}

// Open reads a book's directory with one request for its end, or two when the directory
// is very large. Bytes that came with the end are not requested again, so that Open
// reads a small book whole.
func Open(ctx context.Context, r blob.Reader, key string) (*Reader, error) {
	tail, err := blob.Tail(ctx, r, key, suffix, ErrDamaged, func(end []byte) (int64, error) {
		size, _, err := directorySize(end)
		return int64(size + footerSize), err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read book %s: %w", key, err)
	}
	return newReader("book "+key, tail, func(ctx context.Context, at blob.Range) ([]byte, error) { return r.Get(ctx, key, at) })
}

// Memory returns a Reader of a book whose whole content is in memory. The name describes the book in
// errors.
func Memory(name string, content []byte) (*Reader, error) { return newReader(name, content, nil) }

// newReader returns a Reader of a book. name describes the book in errors, tail is the
// end of the book with its whole directory, and get requests other parts of the book.
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

// Counts returns the numbers of outcomes and links in the book, without a request.
func (r *Reader) Counts() (outcomes, links int) {
	for _, b := range r.directory.outcomes {
		outcomes += int(b.count)
	}
	for _, b := range r.directory.links {
		links += int(b.count)
	}
	return outcomes, links
}

// Sizes returns two sizes in bytes, both after compression: of all outcomes in the book, and
// of all its links with the table of their sources. It sends no request.
func (r *Reader) Sizes() (outcomes, links int64) {
	for _, b := range r.directory.outcomes {
		outcomes += int64(b.size)
	}
	for _, b := range r.directory.links {
		links += int64(b.size)
	}
	return outcomes, links + int64(r.directory.sources)*int64(identitySize)
}

// Part is a range of the hash space of URLs, for reading a book range by range (see Reader.Parts).
// Bytes is the size of the book's blocks that begin in this range.
type Part struct {
	layout.Range
	Bytes int64
}

// Parts divides a range of the hash space of URLs into smaller ranges, each with about size bytes of the book. So
// a caller can read the book range by range. A block of the book that begins before the range counts in the first
// part. Parts sends no request.
func (r *Reader) Parts(within layout.Range, size int64) []Part {
	blocks := slices.Concat(touching(r.directory.outcomes, within), touching(r.directory.links, within))
	slices.SortFunc(blocks, func(a, b block) int { return cmp.Compare(a.first, b.first) })
	parts := []Part{{Range: within}}
	for _, b := range blocks {
		last := &parts[len(parts)-1]
		if last.Bytes >= size && b.first > last.From {
			last.To = b.first
			parts = append(parts, Part{Range: layout.Range{From: b.first, To: within.To}})
			last = &parts[len(parts)-1]
		}
		last.Bytes += int64(b.size)
	}
	return parts
}

// Find returns the outcomes that the book has of one URL, the lowest version first. It sends at
// most one request. The result is empty if there are none.
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

// Sources returns the table of sources: the identities of all pages whose links are in
// the book. It requests the table at the first call only.
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
		return nil, r.damagedSources()
	}
	sources := make([]layout.Identity, r.directory.sources)
	for i := range sources {
		sources[i] = layout.Identity(b[i*identitySize:])
	}
	r.sources = sources
	return sources, nil
}

// CheckSources reads the table of sources without keeping it, and fails if the table is damaged.
func (r *Reader) CheckSources(ctx context.Context) error {
	return r.EachSource(ctx, func(layout.Identity) {})
}

// EachSource calls a function with each source in the table, in the order of Sources. It does not
// keep the table, but requests it in parts of at most 4 MiB. If the table is damaged, EachSource fails in the end.
func (r *Reader) EachSource(ctx context.Context, use func(id layout.Identity)) error {
	offset, end := r.directory.sourcesOffset, r.directory.sourcesOffset+int64(r.directory.sources)*int64(identitySize)
	crc := uint32(0)
	for offset < end {
		size := min(end-offset, maxGet)
		b, err := r.read(ctx, offset, size)
		if err != nil {
			return err
		}
		crc, offset = crc32.Update(crc, castagnoli, b), offset+size
		for ; len(b) > 0; b = b[identitySize:] {
			use(layout.Identity(b))
		}
	}
	if crc != r.directory.sourcesCRC {
		return r.damagedSources()
	}
	return nil
}

func (r *Reader) damagedSources() error {
	return r.damaged(fmt.Errorf("sources at byte %d: checksum does not match", r.directory.sourcesOffset))
}

// read returns size bytes of the book, beginning at the given offset. It takes them from memory if
// Open has read them; otherwise it sends one request.
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

// Decode reads a whole book from memory. Its errors wrap ErrDamaged.
func Decode(content []byte) (Book, error) {
	r, err := newReader("book", content, nil)
	if err != nil {
		return Book{}, err
	}
	if r.directory.size != int64(len(content)) {
		return Book{}, r.damaged(fmt.Errorf("%d bytes where its directory speaks of %d", len(content), r.directory.size))
	}
	outcomes, links := r.Counts()
	most := len(content) / 8 // allocates little for counts that may be damaged; append makes room for more
	b := Book{Outcomes: make([]Outcome, 0, min(outcomes, most)), Links: make([]Link, 0, min(links, most))}
	for o, err := range r.Outcomes(context.Background(), layout.Range{}) {
		if err != nil {
			return Book{}, err
		}
		b.Outcomes = append(b.Outcomes, o)
	}
	for l, err := range r.Links(context.Background(), layout.Range{}) {
		if err != nil {
			return Book{}, err
		}
		b.Links = append(b.Links, l)
	}
	return b, nil
}
