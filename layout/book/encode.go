package book

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/bucketsearch/bucketsearch/layout"
)

// versionFor returns the lowest version of the format that can express all fields of an outcome.
func versionFor(o *Outcome) version {
	switch {
	case o.Asset:
		return version3
	case o.Pace != (Pace{}):
		return version2
	}
	return version1
}

// Encode returns the bytes of a book. The same outcomes and links in any order give the same bytes.
// It fails if a value is over the caps of this package, if a state, kind or region is unknown, or
// if a place (a hash) is not that of its URL. It does not change its argument.
func Encode(b Book) ([]byte, error) { return encode(b, encoder) }

// EncodeFast returns the same book as Encode does, in less time and with more bytes. It is for a book
// that is read a few times and then deleted, such as that in a spool object.
func EncodeFast(b Book) ([]byte, error) { return encode(b, fastEncoder) }

func encode(b Book, by *zstd.Encoder) ([]byte, error) {
	outcomes, v := slices.Clone(b.Outcomes), version1
	for _, o := range outcomes {
		if err := checkOutcome(o); err != nil {
			return nil, fmt.Errorf("cannot encode book: %w", err)
		}
		v = max(v, versionFor(&o))
	}
	slices.SortFunc(outcomes, Outcome.Compare)
	urls := make(sourceURLs)
	for i := range b.Links {
		l := &b.Links[i]
		if i == 0 || l.Source != b.Links[i-1].Source {
			urls[l.Source] = ""
		}
		if l.Former {
			v = version4
		}
	}
	for _, o := range outcomes {
		urls.outcome(o)
	}
	sources := urls.table()
	w := newWriter(v)
	w.encoder = by
	for _, o := range outcomes {
		w.outcome(o)
	}
	if err := w.addLinks(b.Links, sources); err != nil {
		return nil, fmt.Errorf("cannot encode book: %w", err)
	}
	return w.finish(sources), nil
}

// sourceURLs maps the identity of each page with links in a book to the page's URL; to
// "" if the book has no outcome of the page.
type sourceURLs map[layout.Identity]string

// outcome stores the URL of an outcome in urls, so that the method table can sort by URL. It does
// nothing if the identity of the URL is not in urls: then the book has no links from this page.
func (urls sourceURLs) outcome(o Outcome) {
	id := o.Identity()
	if _, isSource := urls[id]; isSource {
		urls[id] = o.URL
	}
}

// table returns the book's table of sources: each identity once, sorted by URL. Pages
// in one directory of a site often have the same navigation. Such pages are
// neighbours in the table. This makes the rows of their common links small, because a
// row stores each index of a source as its difference from the one before.
func (urls sourceURLs) table() []layout.Identity {
	table := make([]layout.Identity, 0, len(urls))
	for id := range urls {
		table = append(table, id)
	}
	slices.SortFunc(table, func(a, b layout.Identity) int {
		return cmp.Or(cmp.Compare(urls[a], urls[b]), a.Compare(b))
	})
	return table
}

// blockTarget is the size, in bytes before compression, at which a block is closed.
// maxRow is the greatest number of sources of one row. With these limits and the caps
// on strings, no block can exceed maxBlock.
const (
	blockTarget = 64 << 10
	maxRow      = 8 << 10
)

// writer writes a book: outcomes in the order of Outcome.Compare, then rows of links in the order
// of compareLinks. In memory it holds the book and the uncompressed block to which rows are being
// added.
type writer struct {
	version       version
	encoder       *zstd.Encoder // compresses the blocks
	file          []byte        // the bytes of the book that are written so far
	raw           []byte        // memory for a block before compression, used for one block after another
	outcomes      *outcomeWriter
	links         *linkWriter
	outcomeBlocks blockSection
	linkBlocks    blockSection
}

// blockSection holds all blocks of outcomes, or all blocks of links, of the book that is being
// written. The field closed has the blocks that are complete and in the book; open is the
// block to which rows are added.
type blockSection struct {
	closed []block
	open   block
}

// The encoders compress the blocks of all books: fastEncoder those of EncodeFast, encoder all others. They
// are made before main begins, and not at their first use. So a test that measures the memory of some work
// does not count that of the encoders.
var encoder, fastEncoder = newEncoder(zstd.SpeedDefault), newEncoder(zstd.SpeedFastest)

func newEncoder(level zstd.EncoderLevel) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(level), zstd.WithWindowSize(maxBlock), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // an option that is not valid
	}
	e.EncodeAll(nil, nil)
	return e
}

func newWriter(v version) *writer {
	return &writer{version: v, encoder: encoder, file: []byte(v.magic()), outcomes: newOutcomeWriter(v), links: newLinkWriter(v)}
}

func (w *writer) outcome(o Outcome) {
	w.outcomes.add(o)
	w.added(&w.outcomeBlocks, w.outcomes.columnWriter, o.Place, 1)
}

// addLinks adds links, in any order. Links that differ only in their sources (the pages that contain
// them) become one row. The parameter sources is the book's table of sources, which has the identities
// of all these pages. addLinks fails if a link cannot be stored (see checkLink).
func (w *writer) addLinks(links []Link, sources []layout.Identity) error {
	var rows []row // the rows of one place
	for keys := sortedKeys(links, sources); len(keys) > 0; {
		place := keys[0].place
		rows = rows[:0]
		for ; len(keys) > 0 && keys[0].place == place; keys = keys[1:] {
			l := links[keys[0].link]
			l.Source, l.Modified = layout.Identity{}, timeOf(secondsOf(l.Modified))
			if n := len(rows); n > 0 && rows[n-1].Link == l {
				rows[n-1].sources = append(rows[n-1].sources, keys[0].source)
				continue
			}
			if err := checkLink(&l); err != nil {
				return err
			}
			rows = append(rows, row{l, []uint32{keys[0].source}})
		}
		for _, r := range joinAlike(rows) {
			w.link(r)
		}
	}
	return nil
}

// linkKey stands for a link when links are sorted. In the order of keys, links that differ only in
// their sources are almost always neighbours. Keys are compared and moved much faster than links.
type linkKey struct {
	place  layout.Place
	text   uint64 // hash of Link.Anchor, Around and Depth
	source uint32 // index of Link.Source in the book's table of sources
	link   uint32 // index of the link in the list of links
}

// sortedKeys returns the sorted keys of the links.
func sortedKeys(links []Link, sources []layout.Identity) []linkKey {
	number := make(map[layout.Identity]uint32, len(sources))
	for i, id := range sources {
		number[id] = uint32(i)
	}
	keys := make([]linkKey, len(links))
	for i := range links {
		l := &links[i]
		text := maphash.String(seed, l.Anchor) ^ maphash.String(seed, l.Around)>>1 ^ uint64(l.Depth)
		keys[i] = linkKey{l.Place, text, number[l.Source], uint32(i)}
	}
	slices.SortFunc(keys, func(a, b linkKey) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.text, b.text), cmp.Compare(a.source, b.source))
	})
	return keys
}

// seed is the seed of the hashes in linkKey. It differs from process to process, but the order of
// the rows of a book does not depend on it.
var seed = maphash.MakeSeed()

// link adds a row of links; several rows if it has more than maxRow sources. Rows must be added in
// the order of compareLinks. After the first row no outcome can be added.
func (w *writer) link(l row) {
	w.close(&w.outcomeBlocks, w.outcomes.columnWriter)
	for sources := range slices.Chunk(l.sources, maxRow) {
		w.links.add(row{l.Link, sources})
		w.added(&w.linkBlocks, w.links.columnWriter, l.Place, len(sources))
	}
}

// added must be called after a row was added to the open block of a section. It updates the block's
// entry in the directory, and closes the block if it has reached the size blockTarget. The last two
// parameters are about the row: its place (see layout.Place), and the number of its outcomes or
// links. A row is one outcome, or all links that differ only in their sources.
func (w *writer) added(s *blockSection, columns *columnWriter, at layout.Place, count int) {
	if s.open.count == 0 {
		s.open.first = at
	}
	s.open.last = at
	s.open.count += uint32(count)
	if columns.size() >= blockTarget {
		w.close(s, columns)
	}
}

// close compresses the open block of a section and appends it to the book. It does
// nothing if the block is empty.
func (w *writer) close(s *blockSection, columns *columnWriter) {
	if s.open.count == 0 {
		return
	}
	start := len(w.file)
	w.raw = columns.appendTo(w.raw[:0])
	w.file = w.encoder.EncodeAll(w.raw, w.file)
	s.open.size, s.open.crc = uint32(len(w.file)-start), crc32.Checksum(w.file[start:], castagnoli)
	s.closed = append(s.closed, s.open)
	s.open = block{}
	columns.reset()
}

// copy appends a block of another book of the same version to a section, as it is.
func (w *writer) copy(s *blockSection, b openBlock) {
	w.close(&w.outcomeBlocks, w.outcomes.columnWriter)
	w.close(&w.linkBlocks, w.links.columnWriter)
	w.file = append(w.file, b.bytes...)
	s.closed = append(s.closed, b.block)
}

// append appends the links that another writer (the parameter links) has written in the same
// version. No row can be added afterwards.
func (w *writer) append(links *writer) {
	w.close(&w.outcomeBlocks, w.outcomes.columnWriter)
	links.close(&links.linkBlocks, links.links.columnWriter)
	w.file = append(w.file, links.file[magicSize:]...)
	w.linkBlocks = links.linkBlocks
}

// finish closes the open blocks, appends the table of sources and the directory, and
// returns the book.
func (w *writer) finish(sources []layout.Identity) []byte {
	w.close(&w.outcomeBlocks, w.outcomes.columnWriter)
	w.close(&w.linkBlocks, w.links.columnWriter)
	start := len(w.file)
	for _, id := range sources {
		w.file = append(w.file, id[:]...)
	}
	return directory{
		version: w.version, outcomes: w.outcomeBlocks.closed, links: w.linkBlocks.closed,
		sources: uint32(len(sources)), sourcesCRC: crc32.Checksum(w.file[start:], castagnoli),
	}.appendTo(w.file)
}
