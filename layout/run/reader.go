package run

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const (
	suffix = 64 << 10 // number of bytes at the end of a run that Open requests
	maxGet = 4 << 20  // greatest number of bytes in one request for blocks
	// Blocks with a gap of at most maxGap bytes between them are read by one request: to read the gap costs less
	// than another request.
	maxGap = 256 << 10
)

// Reader reads a run. It is safe for concurrent use.
type Reader struct {
	bucket   blob.Reader
	key      string
	blocks   []block
	decoders sync.Pool // of *zstd.Decoder, which are reused
}

// Open reads the directory of a run, with one request for its end, or two if the directory is very large. Its error
// wraps ErrDamaged, or comes from the store.
func Open(ctx context.Context, bucket blob.Reader, key string) (*Reader, error) {
	r := &Reader{bucket: bucket, key: key}
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

// wrap adds the key of the run to an error. For a nil error it returns nil.
func (r *Reader) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot read run %s: %w", r.key, err)
}

// Find returns the records of those of the given URLs that the run has. The URLs must be sorted (see URL.Compare).
func (r *Reader) Find(ctx context.Context, urls []URL) (found []Record, err error) {
	var wanted []int
	for _, u := range urls {
		at, equal := slices.BinarySearchFunc(r.blocks, u, func(b block, u URL) int { return b.first.Compare(u) })
		if !equal {
			at-- // the URL may be in the block before
		}
		if at >= 0 && (len(wanted) == 0 || wanted[len(wanted)-1] != at) {
			wanted = append(wanted, at)
		}
	}
	for records, err := range r.read(ctx, wanted) {
		if err != nil {
			return nil, err
		}
		for _, one := range records {
			for len(urls) > 0 && urls[0].Compare(one.URL) < 0 {
				urls = urls[1:]
			}
			if len(urls) > 0 && urls[0] == one.URL {
				found = append(found, one)
			}
		}
	}
	return found, nil
}

// All yields all records of the run, in their order. An error ends the sequence.
func (r *Reader) All(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for records, err := range r.read(ctx, allOf(r.blocks)) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, one := range records {
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}

// read yields the records of some blocks, block by block. The parameter wanted has their indexes, in ascending order.
func (r *Reader) read(ctx context.Context, wanted []int) iter.Seq2[[]Record, error] {
	return func(yield func([]Record, error) bool) {
		for len(wanted) > 0 {
			first := r.blocks[wanted[0]]
			end, n := first.offset+first.size, 1
			for n < len(wanted) {
				next := r.blocks[wanted[n]]
				if next.offset-end > maxGap || next.offset+next.size-first.offset > maxGet {
					break
				}
				end, n = next.offset+next.size, n+1
			}
			content, err := r.bucket.Get(ctx, r.key, blob.Range{Offset: first.offset, Length: end - first.offset})
			if err == nil && int64(len(content)) != end-first.offset {
				err = fmt.Errorf("%w: it is shorter than its directory says", ErrDamaged)
			}
			for _, at := range wanted[:n] {
				var records []Record
				if err == nil {
					b := r.blocks[at]
					records, err = r.decode(content[b.offset-first.offset:][:b.size], b)
				}
				if err != nil {
					yield(nil, r.wrap(err))
					return
				}
				if !yield(records, nil) {
					return
				}
			}
			wanted = wanted[n:]
		}
	}
}

// decode returns the records of a block from its compressed bytes.
func (r *Reader) decode(compressed []byte, b block) ([]Record, error) {
	d, found := r.decoders.Get().(*zstd.Decoder)
	if !found {
		var err error
		d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxBlock))
		if err != nil {
			return nil, err
		}
	}
	defer r.decoders.Put(d)
	raw, err := d.DecodeAll(compressed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: block at byte %d: %w", ErrDamaged, b.offset, err)
	}
	records, ok := parseColumns(raw, b.urls)
	if !ok || len(records) == 0 || records[0].URL != b.first {
		return nil, fmt.Errorf("%w: block at byte %d has other URLs than the directory says", ErrDamaged, b.offset)
	}
	return records, nil
}
