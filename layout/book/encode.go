package book

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/bucketsearch/bucketsearch/layout"
)

// blockTarget is the size before compression at which a block is closed, and
// maxRow how many sources share a row; with the caps on strings no block can
// reach maxBlock.
const (
	blockTarget = 64 << 10
	maxRow      = 8 << 10
)

// Encode writes a book. The same outcomes and links in any order give the same
// bytes. It fails on a value over the caps of this package, on an unknown
// state, kind or region, and on a place that is not the URL's. The book that
// is given is left as it is.
func Encode(b Book) ([]byte, error) {
	outcomes := slices.Clone(b.Outcomes)
	for _, o := range outcomes {
		if err := checkOutcome(o); err != nil {
			return nil, fmt.Errorf("cannot encode book: %w", err)
		}
	}
	slices.SortFunc(outcomes, Outcome.Compare)
	sources := sourceTable(outcomes, b.Links)
	rows, err := rowsOf(b.Links, sources)
	if err != nil {
		return nil, fmt.Errorf("cannot encode book: %w", err)
	}

	w, err := newWriter()
	if err != nil {
		return nil, fmt.Errorf("cannot encode book: %w", err)
	}
	var d directory
	d.outcomes = w.outcomes(outcomes)
	d.links = w.links(rows)
	start := len(w.file)
	for _, id := range sources {
		w.file = append(w.file, id[:]...)
	}
	d.sources, d.sourcesCRC = uint32(len(sources)), crc32.Checksum(w.file[start:], castagnoli)
	return d.appendTo(w.file), nil
}

// sourceTable lists the sources of all links once, in the order of their URLs
// where these are outcomes of the same book: pages of one directory share
// their navigation, so that its sources become neighbours.
func sourceTable(outcomes []Outcome, links []Link) []layout.Identity {
	urls := make(map[layout.Identity]string)
	for _, l := range links {
		urls[l.Source] = ""
	}
	for _, o := range outcomes {
		id := o.Identity()
		if _, isSource := urls[id]; isSource {
			urls[id] = o.URL
		}
	}
	table := make([]layout.Identity, 0, len(urls))
	for id := range urls {
		table = append(table, id)
	}
	slices.SortFunc(table, func(a, b layout.Identity) int {
		return cmp.Or(cmp.Compare(urls[a], urls[b]), a.Compare(b))
	})
	return table
}

// rowsOf gathers links that differ in nothing but the source.
func rowsOf(links []Link, sources []layout.Identity) ([]row, error) {
	number := make(map[layout.Identity]uint32, len(sources))
	for i, id := range sources {
		number[id] = uint32(i)
	}
	alike := make(map[Link][]uint32)
	for _, l := range links {
		n := number[l.Source]
		l.Source = layout.Identity{}
		alike[l] = append(alike[l], n)
	}
	rows := make([]row, 0, len(alike))
	for l, numbers := range alike {
		if err := checkLink(l); err != nil {
			return nil, err
		}
		slices.Sort(numbers)
		for part := range slices.Chunk(numbers, maxRow) {
			rows = append(rows, row{l, part})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(compareLinks(a.Link, b.Link), cmp.Compare(a.sources[0], b.sources[0]))
	})
	return rows, nil
}

// writer appends compressed blocks to a book.
type writer struct {
	file []byte
	raw  []byte // reused
	zstd *zstd.Encoder
}

func newWriter() (*writer, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(maxBlock), zstd.WithLowerEncoderMem(true))
	return &writer{file: []byte(magic), zstd: encoder}, err
}

func (w *writer) outcomes(sorted []Outcome) []block {
	var blocks []block
	for len(sorted) > 0 {
		columns, n := newOutcomeWriter(), 0
		for n < len(sorted) && columns.size() < blockTarget {
			columns.add(sorted[n])
			n++
		}
		b := block{first: sorted[0].Place, last: sorted[n-1].Place, count: uint32(n)}
		blocks = append(blocks, w.block(b, columns.columnWriter))
		sorted = sorted[n:]
	}
	return blocks
}

func (w *writer) links(sorted []row) []block {
	var blocks []block
	for len(sorted) > 0 {
		columns, n, count := newLinkWriter(), 0, 0
		for n < len(sorted) && columns.size() < blockTarget {
			columns.add(sorted[n])
			count += len(sorted[n].sources)
			n++
		}
		b := block{first: sorted[0].Place, last: sorted[n-1].Place, count: uint32(count)}
		blocks = append(blocks, w.block(b, columns.columnWriter))
		sorted = sorted[n:]
	}
	return blocks
}

func (w *writer) block(b block, columns *columnWriter) block {
	start := len(w.file)
	w.raw = columns.appendTo(w.raw[:0])
	w.file = w.zstd.EncodeAll(w.raw, w.file)
	b.size, b.crc = uint32(len(w.file)-start), crc32.Checksum(w.file[start:], castagnoli)
	return b
}
