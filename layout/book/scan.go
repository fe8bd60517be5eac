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

// openBlock is a block that has been read. It is valid until the next block is read.
type openBlock struct {
	block
	section string // "outcomes" or "links", for errors
	bytes   []byte // the compressed bytes, as in the book; their checksum is right
	reader  *Reader
	rows    *blockReader
}

// blockReader decodes one block after another.
type blockReader struct {
	decoder  *zstd.Decoder
	raw      []byte // memory for a decompressed block
	outcomes outcomeReader
	links    linkReader
}

// Outcomes yields the outcomes of the URLs whose places (see layout.Place) are in the range, sorted
// by place, identity and version. It requests only the blocks that overlap the range, up to 4 MiB
// at a time. An error ends the sequence. Several outcomes may share the slice Collections, which
// must not be changed.
func (r *Reader) Outcomes(ctx context.Context, within layout.Range) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		for b, err := range r.blocks(ctx, "outcomes", touching(r.directory.outcomes, within)) {
			if err != nil {
				yield(Outcome{}, err)
				return
			}
			for o, err := range b.outcomes(within) {
				if !yield(o, err) || err != nil {
					return
				}
			}
		}
	}
}

// Links yields the links whose targets have places (see layout.Place) in the range. They are
// sorted by the place and identity of the target; links to the same target come in an order that
// depends on the book's content alone. Links requests only the blocks that overlap the range, up
// to 4 MiB at a time. It also requests the table of sources, unless the Reader has it. An error
// ends the sequence.
func (r *Reader) Links(ctx context.Context, within layout.Range) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		var table []layout.Identity
		for found, err := range r.rows(ctx, allFields, within) {
			if err == nil && table == nil {
				table, err = r.Sources(ctx)
			}
			if err != nil {
				yield(Link{}, err)
				return
			}
			for _, number := range found.sources {
				found.link.Source = table[number]
				if !yield(found.link, nil) {
					return
				}
			}
		}
	}
}

// Target has the fields of one Row (a group of links to the same URL that differ only in their
// sources) that can be read fast. Region, Rel, Anchor, Around, Modified, Former and the sources
// themselves are missing. Reader.Targets yields it.
type Target struct {
	URL                  string
	ID                   layout.Identity
	Place                layout.Place
	Kind                 Kind
	Depth                uint16
	Hops                 uint8
	Weight               uint8
	Collection, Decision string
	Sources              int // number of links in the row, one from each source
}

// Targets yields the targets of links, in the order of Links: those targets whose
// places (see layout.Place) are in the given range. Targets is many times as fast as
// Links, because it reads neither the sources of the links nor their texts. It may
// yield equal targets repeatedly. An error ends the sequence.
func (r *Reader) Targets(ctx context.Context, within layout.Range) iter.Seq2[Target, error] {
	return func(yield func(Target, error) bool) {
		for found, err := range r.rows(ctx, targetFields, within) {
			if err != nil {
				yield(Target{}, err)
				return
			}
			l := &found.link
			t := Target{l.Target, found.id, l.Place, l.Kind, l.Depth, l.Hops, l.Weight, l.Collection, l.Decision, found.count}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// Row is all links of a book that differ in nothing but their sources.
type Row struct {
	Link                 // fields of the links, without Source
	ID   layout.Identity // identity of the target
	// indexes of the sources in the table of Reader.Sources, ascending; valid until the next row
	Sources []uint32
}

// Rows yields the links whose targets are in the range, in the order of Links. Links that differ
// only in their sources come together, as one row. If the parameter texts is false, the rows lack
// Anchor, Around and Modified, and Rows takes half the time. An error ends the sequence.
func (r *Reader) Rows(ctx context.Context, within layout.Range, texts bool) iter.Seq2[Row, error] {
	wanted := voteFields
	if texts {
		wanted = allFields
	}
	return func(yield func(Row, error) bool) {
		for found, err := range r.rows(ctx, wanted, within) {
			if err != nil {
				yield(Row{}, err)
				return
			}
			if !yield(Row{found.link, found.id, found.sources}, nil) {
				return
			}
		}
	}
}

// rows decodes the wanted fields of the rows of links whose targets are in the range. After
// each row it yields the linkReader, which holds the row until the next one is decoded.
func (r *Reader) rows(ctx context.Context, wanted linkFields, within layout.Range) iter.Seq2[*linkReader, error] {
	return func(yield func(*linkReader, error) bool) {
		for b, err := range r.blocks(ctx, "links", touching(r.directory.links, within)) {
			if err != nil {
				yield(nil, err)
				return
			}
			for found, err := range b.links(wanted, within) {
				if !yield(found, err) || err != nil {
					return
				}
			}
		}
	}
}

// blocks reads the given blocks, which all belong to one section of the book, and yields them one after
// another. It requests neighbouring blocks together, up to 4 MiB at a time. The parameter section is the
// section's name, for errors.
func (r *Reader) blocks(ctx context.Context, section string, wanted []block) iter.Seq2[openBlock, error] {
	return func(yield func(openBlock, error) bool) {
		decoder, err := r.decoder()
		if err != nil {
			yield(openBlock{}, fmt.Errorf("cannot read %s: %w", r.name, err))
			return
		}
		defer r.decoders.Put(decoder)
		rows := &blockReader{decoder: decoder, links: linkReader{table: int(r.directory.sources)}}
		for len(wanted) > 0 {
			run, size := neighbours(wanted)
			b, err := r.read(ctx, wanted[0].offset, size)
			if err != nil {
				yield(openBlock{}, err)
				return
			}
			for _, k := range wanted[:run] {
				open := openBlock{block: k, section: section, bytes: b[:k.size], reader: r, rows: rows}
				if crc32.Checksum(open.bytes, castagnoli) != k.crc {
					yield(open, open.damaged(errors.New("checksum does not match")))
					return
				}
				if b = b[k.size:]; !yield(open, nil) {
					return
				}
			}
			wanted = wanted[run:]
		}
	}
}

// neighbours returns how many of the first blocks are requested together, and their size in bytes: those that follow
// each other in the book without a gap, up to maxGet bytes, but at least one.
func neighbours(blocks []block) (run int, size int64) {
	for _, k := range blocks {
		if run > 0 && (k.offset != blocks[0].offset+size || size+int64(k.size) > maxGet) {
			break
		}
		run, size = run+1, size+int64(k.size)
	}
	return run, size
}

// decoder returns a decoder that no other goroutine uses.
func (r *Reader) decoder() (*zstd.Decoder, error) {
	if d, ok := r.decoders.Get().(*zstd.Decoder); ok {
		return d, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxBlock))
}

// touching returns those of the given blocks that may contain rows whose places (hashes of URLs)
// are in the given range. The blocks must be sorted by the places of their rows.
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

// unpack decompresses the block. The result is valid until the next block is unpacked.
func (b openBlock) unpack() (raw []byte, err error) {
	b.rows.raw, err = b.rows.decoder.DecodeAll(b.bytes, b.rows.raw[:0])
	return b.rows.raw, err
}

// outcomes yields those outcomes of a block whose places (hashes of URLs) are in the given range. If the
// block is damaged, it yields an error, and ends.
func (b openBlock) outcomes(within layout.Range) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		rows := &b.rows.outcomes
		raw, err := b.unpack()
		if err == nil {
			err = rows.reset(b.reader.directory.version, raw)
		}
		if err != nil {
			yield(Outcome{}, b.damaged(err))
			return
		}
		for range b.count {
			o, err := rows.next()
			if err == nil && (o.Place < b.first || o.Place > b.last) {
				err = fmt.Errorf("holds %s, which is outside of the block's range", o.URL)
			}
			if err != nil {
				yield(Outcome{}, b.damaged(err))
				return
			}
			if within.Contains(o.Place) && !yield(o, nil) {
				return
			}
		}
		if err := rows.end(); err != nil {
			yield(Outcome{}, b.damaged(err))
		}
	}
}

// links decodes the rows of links in a block, and of each row only the wanted fields. It yields the decoder
// when this holds a row whose place (hash of the link's target) is in the given range. If the block is damaged,
// links yields an error, and ends.
func (b openBlock) links(wanted linkFields, within layout.Range) iter.Seq2[*linkReader, error] {
	return func(yield func(*linkReader, error) bool) {
		rows := &b.rows.links
		raw, err := b.unpack()
		if err == nil {
			err = rows.reset(b.reader.directory.version, raw)
		}
		if err != nil {
			yield(nil, b.damaged(err))
			return
		}
		count := 0
		for rows.left(linkSame) > 0 {
			err := rows.next(wanted)
			at := rows.link.Place
			if err == nil && (at < b.first || at > b.last) {
				err = fmt.Errorf("holds %s, which is outside of the block's range", rows.link.Target)
			}
			if err != nil {
				yield(nil, b.damaged(err))
				return
			}
			count += rows.count
			if within.Contains(at) && !yield(rows, nil) {
				return
			}
		}
		rows.skipUnread(wanted)
		err = rows.end()
		if err == nil && count != int(b.count) {
			err = fmt.Errorf("%d links where the directory speaks of %d", count, b.count)
		}
		if err != nil {
			yield(nil, b.damaged(err))
		}
	}
}

// names reports whether a row of a block of links names one of those sources for which the list, by their indexes in
// the book's table, has true. It takes a fraction of the time of links.
func (b openBlock) names(listed []bool) (bool, error) {
	rows := &b.rows.links
	raw, err := b.unpack()
	if err == nil {
		err = rows.reset(b.reader.directory.version, raw)
	}
	found := false
	if err == nil {
		found, err = rows.name(listed)
	}
	if err != nil {
		return false, b.damaged(err)
	}
	return found, nil
}
