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

// openBlock is a block that has been read and decompressed.
type openBlock struct {
	block
	section string // "outcomes" or "links", for errors
	raw     []byte // the decompressed bytes; valid until the next block is read
	reader  *Reader
}

// Outcomes yields the outcomes of the URLs whose places (see layout.Place) are in the range, sorted
// by place, identity and version. It requests only the blocks that overlap the range, up to 4 MiB
// at a time. An error ends the sequence. Several outcomes may share the slice Collections, which
// must not be changed.
func (r *Reader) Outcomes(ctx context.Context, within layout.Range) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		var rows outcomeReader
		for b, err := range r.blocks(ctx, "outcomes", r.directory.outcomes, within) {
			if err != nil {
				yield(Outcome{}, err)
				return
			}
			if !b.outcomes(&rows, within, yield) {
				return
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
		rows := linkReader{table: int(r.directory.sources)}
		for b, err := range r.blocks(ctx, "links", r.directory.links, within) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !b.links(&rows, wanted, within, yield) {
				return
			}
		}
	}
}

// blocks reads one section of the book: all blocks of outcomes, or all blocks of links. It yields
// those blocks, decompressed, that may contain rows whose places (hashes of URLs) are in the given
// range. It requests neighbouring blocks together. The parameter all lists the blocks of the
// section. The parameter section is the section's name, for errors.
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

// outcomes decodes a block of outcomes. The parameter rows is the decoder; it is reused for one block
// after another. For each outcome whose place (hash of its URL) is in the given range, outcomes calls
// the function yield. If the block is damaged, it calls yield with an error. After an error, or when
// yield has returned false, the result is false: then no further block may be read.
func (b openBlock) outcomes(rows *outcomeReader, within layout.Range, yield func(Outcome, error) bool) bool {
	fail := func(err error) bool {
		yield(Outcome{}, b.damaged(err))
		return false
	}
	if err := rows.reset(b.reader.directory.version, b.raw); err != nil {
		return fail(err)
	}
	for range b.count {
		o, err := rows.next()
		if err != nil {
			return fail(err)
		}
		if o.Place < b.first || o.Place > b.last {
			return fail(fmt.Errorf("holds %s, which is outside of the block's range", o.URL))
		}
		if within.Contains(o.Place) && !yield(o, nil) {
			return false
		}
	}
	if err := rows.end(); err != nil {
		return fail(err)
	}
	return true
}

// links decodes the rows of links in a block, and of each row only the wanted fields. The parameter
// rows is the decoder; it is reused for one block after another. After each row whose place (hash of
// the link's target) is in the given range, links calls the function yield with the decoder, which
// then holds the row. If the block is damaged, it calls yield with an error. After an error, or when
// yield has returned false, the result is false: then no further block may be read.
func (b openBlock) links(rows *linkReader, wanted linkFields, within layout.Range, yield func(*linkReader, error) bool) bool {
	fail := func(err error) bool {
		yield(nil, b.damaged(err))
		return false
	}
	if err := rows.reset(b.reader.directory.version, b.raw); err != nil {
		return fail(err)
	}
	count := 0
	for rows.left(linkSame) > 0 {
		if err := rows.next(wanted); err != nil {
			return fail(err)
		}
		at := rows.link.Place
		if at < b.first || at > b.last {
			return fail(fmt.Errorf("holds %s, which is outside of the block's range", rows.link.Target))
		}
		count += rows.count
		if within.Contains(at) && !yield(rows, nil) {
			return false
		}
	}
	rows.skipUnread(wanted)
	if err := rows.end(); err != nil {
		return fail(err)
	}
	if count != int(b.count) {
		return fail(fmt.Errorf("%d links where the directory speaks of %d", count, b.count))
	}
	return true
}
