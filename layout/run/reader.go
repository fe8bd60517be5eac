package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
)

const (
	suffix = 64 << 10 // number of bytes at the end of a run that Open requests
	// stripe is the number of blocks that are read and cached together, some 145 KB. One request for them takes hardly
	// longer than one for a single block, and the other blocks are likely to be needed soon.
	stripe  = 8
	stripes = 32 // greatest number of stripes that are in memory at the same time, besides those in the cache
)

// Reader reads a run. It is safe for concurrent use.
type Reader struct {
	cache    *rangecache.Cache
	key      string
	blocks   []block
	decoders sync.Pool // of *zstd.Decoder, which are reused
}

// NewCache returns a cache of at most so many bytes for the blocks of a bucket's runs.
func NewCache(bucket blob.Reader, bytes int64) *rangecache.Cache {
	cache, err := rangecache.New(bucket, rangecache.Options{Memory: bytes})
	if err != nil {
		panic(err) // never: only opening a directory can fail
	}
	return cache
}

// Open reads the directory of a run, with one request for its end, or two if the directory is very large. The Reader
// takes blocks from the cache, which must be of the same bucket; nil: blocks are not cached. The error wraps ErrDamaged,
// or comes from the store.
func Open(ctx context.Context, bucket blob.Reader, key string, cache *rangecache.Cache) (*Reader, error) {
	if cache == nil {
		cache = NewCache(bucket, 0)
	}
	r := &Reader{cache: cache, key: key}
	tail, err := blob.Tail(ctx, bucket, key, suffix, ErrDamaged, func(end []byte) (int64, error) {
		_, size, err := parseDirectory(end)
		return size, err
	})
	var size int64
	if err == nil {
		r.blocks, size, err = parseDirectory(tail)
	}
	if err == nil && size > int64(len(tail)) {
		err = fmt.Errorf("%w: it is shorter than its directory", ErrDamaged)
	}
	return r, r.wrap(err)
}

// wrap adds the key of the run to an error. For a nil error it returns nil. If the run is damaged, its blocks in the
// cache are not used again.
func (r *Reader) wrap(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrDamaged) {
		r.cache.Forget(r.key)
	}
	return fmt.Errorf("cannot read run %s: %w", r.key, err)
}

// Find returns the records of those of the given URLs that the run has. The URLs must be sorted (see URL.Compare).
func (r *Reader) Find(ctx context.Context, urls []URL) (found []Record, err error) {
	var wanted []int
	sought := make(map[int][]URL) // by the index of the block in which they may be
	for _, u := range urls {
		at, equal := slices.BinarySearchFunc(r.blocks, u, func(b block, u URL) int { return b.first.Compare(u) })
		if !equal {
			at-- // the URL may be in the block before
		}
		if at < 0 {
			continue
		}
		if sought[at] == nil {
			wanted = append(wanted, at)
		}
		sought[at] = append(sought[at], u)
	}
	err = r.read(ctx, wanted, func(at int, t table) error {
		var rows []int
		for _, u := range sought[at] {
			if row, has := t.find(u); has && (len(rows) == 0 || rows[len(rows)-1] != row) {
				rows = append(rows, row)
			}
		}
		found = append(found, t.records(rows)...)
		return nil
	})
	return found, r.wrap(err)
}

// errStopped means that nobody wants further records.
var errStopped = errors.New("stopped")

// All yields all records of the run, in their order. An error ends the sequence.
func (r *Reader) All(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		err := r.read(ctx, allOf(r.blocks), func(at int, t table) error {
			records, err := r.records(at, t)
			for _, one := range records {
				if !yield(one, nil) {
					return errStopped
				}
			}
			return err
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Record{}, r.wrap(err))
		}
	}
}

// records returns all records of a block.
func (r *Reader) records(at int, t table) ([]Record, error) {
	records, ok := t.all()
	if !ok {
		return nil, r.damaged(at)
	}
	return records, nil
}

// damaged returns the error that says that a block is damaged.
func (r *Reader) damaged(at int) error {
	return fmt.Errorf("%w: block at byte %d has other URLs than the directory says", ErrDamaged, r.blocks[at].offset)
}

// read calls the function do with some blocks, one after another: with the index and the content of each. It reads whole
// stripes, some at a time. The parameter wanted has the indexes of the blocks, in ascending order.
func (r *Reader) read(ctx context.Context, wanted []int, do func(at int, t table) error) error {
	for len(wanted) > 0 {
		var ranges []blob.Range
		some, last := 0, -1 // number of blocks in these ranges, and number of the last stripe
		for ; some < len(wanted); some++ {
			number := wanted[some] / stripe
			if number == last {
				continue
			}
			if len(ranges) == stripes {
				break
			}
			ranges, last = append(ranges, r.stripe(number)), number
		}
		contents, err := r.cache.Read(ctx, r.key, ranges)
		if errors.Is(err, blob.ErrRange) {
			err = fmt.Errorf("%w: it is shorter than its directory says", ErrDamaged)
		}
		if err != nil {
			return err
		}
		for _, at := range wanted[:some] {
			for r.blocks[at].offset >= ranges[0].Offset+ranges[0].Length {
				ranges, contents = ranges[1:], contents[1:]
			}
			t, err := r.decode(contents[0], ranges[0], at)
			if err == nil {
				err = do(at, t)
			}
			if err != nil {
				return err
			}
		}
		wanted = wanted[some:]
	}
	return nil
}

// stripe returns where the blocks of a stripe are.
func (r *Reader) stripe(number int) blob.Range {
	first, last := r.blocks[number*stripe], r.blocks[min(number*stripe+stripe, len(r.blocks))-1]
	return blob.Range{Offset: first.offset, Length: last.offset + last.size - first.offset}
}

// decode returns a block. The parameter content has the bytes of its stripe, which are at the given place in the run.
func (r *Reader) decode(content []byte, place blob.Range, at int) (table, error) {
	b := r.blocks[at]
	if int64(len(content)) != place.Length {
		return table{}, fmt.Errorf("%w: it is shorter than its directory says", ErrDamaged)
	}
	d, found := r.decoders.Get().(*zstd.Decoder)
	if !found {
		var err error
		d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxBlock))
		if err != nil {
			return table{}, err
		}
	}
	defer r.decoders.Put(d)
	raw, err := d.DecodeAll(content[b.offset-place.Offset:][:b.size], nil)
	if err != nil {
		return table{}, fmt.Errorf("%w: block at byte %d: %w", ErrDamaged, b.offset, err)
	}
	t, ok := parseTable(raw, b.urls)
	if !ok || t.url(0) != b.first {
		return table{}, r.damaged(at)
	}
	return t, nil
}
