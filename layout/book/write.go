package book

import (
	"hash/crc32"

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

// writer writes a book: sorted outcomes, then sorted rows of links. It holds
// the book and one block before compression.
type writer struct {
	version       version
	file          []byte
	raw           []byte // reused
	outcomes      *outcomeWriter
	links         *linkWriter
	outcomeBlocks section
	linkBlocks    section
}

// section is a run of blocks, the last of which is open.
type section struct {
	closed []block
	open   block
}

// encoder compresses blocks. It keeps some memory, and nothing of what went
// through it, so all books share it. It is made, and warm, before main begins,
// lest it belong to the first test that uses it.
var encoder = newEncoder()

func newEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(maxBlock), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // an option that is not valid
	}
	e.EncodeAll(nil, nil)
	return e
}

func newWriter(v version) *writer {
	return &writer{version: v, file: []byte(v.magic()), outcomes: newOutcomeWriter(v), links: newLinkWriter()}
}

func (w *writer) outcome(o Outcome) {
	w.outcomes.add(o)
	w.added(&w.outcomeBlocks, w.outcomes.columnWriter, o.Place, 1)
}

// link takes the first row of links when there are no more outcomes.
func (w *writer) link(l row) {
	w.close(&w.outcomeBlocks, w.outcomes.columnWriter)
	w.links.add(l)
	w.added(&w.linkBlocks, w.links.columnWriter, l.Place, len(l.sources))
}

func (w *writer) added(s *section, columns *columnWriter, at layout.Place, count int) {
	if s.open.count == 0 {
		s.open.first = at
	}
	s.open.last = at
	s.open.count += uint32(count)
	if columns.size() >= blockTarget {
		w.close(s, columns)
	}
}

// close ends the open block, if there is one.
func (w *writer) close(s *section, columns *columnWriter) {
	if s.open.count == 0 {
		return
	}
	start := len(w.file)
	w.raw = columns.appendTo(w.raw[:0])
	w.file = encoder.EncodeAll(w.raw, w.file)
	s.open.size, s.open.crc = uint32(len(w.file)-start), crc32.Checksum(w.file[start:], castagnoli)
	s.closed = append(s.closed, s.open)
	s.open = block{}
	columns.reset()
}

// finish returns the book.
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
