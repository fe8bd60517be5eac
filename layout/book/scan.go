package book

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"

	"github.com/klauspost/compress/zstd"

	"github.com/bucketsearch/bucketsearch/layout"
)

// openBlock is a block whose rows can be read.
type openBlock struct {
	block
	section string
	raw     []byte // valid until the next block is asked for
	reader  *Reader
}

// blocks yields the blocks that the range touches.
func (r *Reader) blocks(ctx context.Context, section string, all []block, within layout.Range) iter.Seq2[openBlock, error] {
	return func(yield func(openBlock, error) bool) {
		touched := touching(all, within)
		decoder, err := r.decoder()
		if err != nil {
			yield(openBlock{}, fmt.Errorf("cannot read %s: %w", r.name, err))
			return
		}
		defer r.decoders.Put(decoder)
		var raw []byte
		for len(touched) > 0 {
			run, size := 1, int64(touched[0].size)
			for run < len(touched) && size+int64(touched[run].size) <= maxGet {
				size += int64(touched[run].size)
				run++
			}
			b, err := r.read(ctx, touched[0].offset, size)
			if err != nil {
				yield(openBlock{}, err)
				return
			}
			for _, k := range touched[:run] {
				open := openBlock{block: k, section: section, reader: r}
				if crc32.Checksum(b[:k.size], castagnoli) != k.crc {
					yield(open, open.damaged(errors.New("checksum does not match")))
					return
				}
				if raw, err = decoder.DecodeAll(b[:k.size], raw[:0]); err != nil {
					yield(open, open.damaged(err))
					return
				}
				open.raw, b = raw, b[k.size:]
				if !yield(open, nil) {
					return
				}
			}
			touched = touched[run:]
		}
	}
}

// decoder returns one that nobody else uses.
func (r *Reader) decoder() (*zstd.Decoder, error) {
	if d, ok := r.decoders.Get().(*zstd.Decoder); ok {
		return d, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxBlock))
}

// touching returns the blocks that may hold something in the range. They lie
// one behind the other.
func touching(all []block, within layout.Range) []block {
	from := 0
	for from < len(all) && all[from].last < within.From {
		from++
	}
	to := from
	for to < len(all) && (within.To == 0 || all[to].first < within.To) {
		to++
	}
	return all[from:to]
}

func (b openBlock) damaged(err error) error {
	return b.reader.damaged(fmt.Errorf("block of %s at byte %d: %w", b.section, b.offset, err))
}

// outcomes yields the outcomes in the range; going is false when the consumer
// wants no more.
func (b openBlock) outcomes(rows *outcomeReader, within layout.Range, yield func(Outcome, error) bool) (going bool, err error) {
	if err := rows.reset(b.reader.directory.version, b.raw); err != nil {
		return true, b.damaged(err)
	}
	for range b.count {
		o, err := rows.next()
		if err != nil {
			return true, b.damaged(err)
		}
		if o.Place < b.first || o.Place > b.last {
			return true, b.damaged(fmt.Errorf("holds %s, which is outside of the block's range", o.URL))
		}
		if within.Contains(o.Place) && !yield(o, nil) {
			return false, nil
		}
	}
	if err := rows.end(); err != nil {
		return true, b.damaged(err)
	}
	return true, nil
}

// links stops at each row of links in the range, whole or not.
func (b openBlock) links(rows *linkReader, whole bool, within layout.Range, yield func(*linkReader, error) bool) (going bool, err error) {
	if err := rows.reset(b.raw); err != nil {
		return true, b.damaged(err)
	}
	count := 0
	for rows.more() {
		if err := rows.next(whole); err != nil {
			return true, b.damaged(err)
		}
		at := rows.link.Place
		if at < b.first || at > b.last {
			return true, b.damaged(fmt.Errorf("holds %s, which is outside of the block's range", rows.link.Target))
		}
		count += rows.count
		if within.Contains(at) && !yield(rows, nil) {
			return false, nil
		}
	}
	if !whole {
		rows.skipped()
	}
	if err := rows.end(); err != nil {
		return true, b.damaged(err)
	}
	if count != int(b.count) {
		return true, b.damaged(fmt.Errorf("%d links where the directory speaks of %d", count, b.count))
	}
	return true, nil
}
