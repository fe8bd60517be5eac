package segment

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Stored returns the documents with the numbers in docs, in the order of docs, without their
// fingerprints. It makes one call of Source.Read.
func (s *Segment) Stored(ctx context.Context, docs []uint32) ([]Document, error) {
	index := &s.tail.stored
	blocks := make([]int, len(docs))
	for i, doc := range docs {
		if doc >= s.tail.documents {
			return nil, s.wrap(fmt.Errorf("document %d: there are %d", doc, s.tail.documents))
		}
		blocks[i] = index.find(doc)
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(blocks)))
	contents, err := s.read(ctx, index.ranges(distinct))
	if err != nil {
		return nil, err
	}
	found := make([]Document, len(docs))
	for n, block := range distinct {
		r, err := openStored(contents[n], index.raw[block], index.count(block))
		for i := range docs {
			if blocks[i] == block && err == nil {
				found[i], err = r.document(int(docs[i] - index.first[block]))
			}
		}
		if err != nil {
			return nil, s.wrap(fmt.Errorf("stored block %d: %w", block, err))
		}
	}
	return found, nil
}

const (
	// storedBlock is the size, in bytes before compression, at which a block of stored
	// documents is closed.
	storedBlock = 64 << 10
	// maxStoredBlock is the greatest size of a block before compression, in bytes: a block that is
	// just smaller than storedBlock still gets one more document, of at most MaxRecord bytes.
	maxStoredBlock = storedBlock + MaxRecord
)

// storedWriter writes stored documents in compressed blocks. It compresses a block while
// it collects the next one.
type storedWriter struct {
	object *objectWriter

	// records and bodies are the encoded documents of the open block, to which documents
	// are added.
	records, bodies []byte
	sizes           []byte // sizes of each document's record and body, as varints
	count           uint32 // number of documents in the open block
	supplements     []byte // for each document of the open block: size of its supplement as a varint, supplement
	supplemented    bool   // whether a document of the open block has a supplement that is not empty

	// compressing, raw, packed, documents and compressed belong to the block that is being
	// compressed.
	compressing chan []byte // receives the compressed block; nil if no block is being compressed
	raw         []byte      // bytes of the block before compression
	packed      []byte      // supplements of the block before compression
	documents   uint32
	compressed  []byte // memory for the compressed block
}

func (w *storedWriter) add(d *Document) error {
	before := len(w.records)
	w.records = appendRecord(w.records, d)
	record := len(w.records) - before
	if record+len(d.Body) > MaxRecord {
		return fmt.Errorf("cannot keep %s: %d bytes, at most %d can be kept", d.URL, record+len(d.Body), MaxRecord)
	}
	supplement := appendSupplement(nil, d)
	if len(supplement) > MaxSupplement {
		return fmt.Errorf("cannot keep %s: its supplement has %d bytes, at most %d can be kept", d.URL, len(supplement), MaxSupplement)
	}
	w.supplement(supplement)
	w.bodies = append(w.bodies, d.Body...)
	w.grow(record, len(d.Body))
	return nil
}

// copy adds the next document, from its encoded record, body and supplement.
func (w *storedWriter) copy(record, body, supplement []byte) {
	w.records = append(w.records, record...)
	w.bodies = append(w.bodies, body...)
	w.supplement(supplement)
	w.grow(len(record), len(body))
}

// supplement adds the supplement of the next document to the open block.
func (w *storedWriter) supplement(supplement []byte) {
	w.supplements = append(binary.AppendUvarint(w.supplements, uint64(len(supplement))), supplement...)
	w.supplemented = w.supplemented || len(supplement) > 0
}

// grow must be called after a document's record and body have been appended to the open block. It
// records their sizes in bytes, and closes the block if it is full.
func (w *storedWriter) grow(record, body int) {
	w.sizes = binary.AppendUvarint(w.sizes, uint64(record))
	w.sizes = binary.AppendUvarint(w.sizes, uint64(body))
	w.count++
	if w.size() >= storedBlock {
		w.close()
	}
}

// size returns the size of the open block before compression.
func (w *storedWriter) size() int { return len(w.sizes) + len(w.records) + len(w.bodies) }

// close closes the open block, unless it is empty, and begins to compress it.
func (w *storedWriter) close() {
	if w.count == 0 {
		return
	}
	w.await()
	w.raw = append(append(append(w.raw[:0], w.sizes...), w.records...), w.bodies...)
	w.documents, w.packed = w.count, w.packed[:0]
	if w.supplemented {
		w.packed = append(w.packed, w.supplements...)
	}
	w.sizes, w.records, w.bodies, w.count = w.sizes[:0], w.records[:0], w.bodies[:0], 0
	w.supplements, w.supplemented = w.supplements[:0], false
	done := make(chan []byte, 1)
	w.compressing = done
	raw, packed, memory := w.raw, w.packed, w.compressed[:0]
	go func() {
		if len(packed) > 0 {
			memory = appendFrame(memory, packed)
		}
		done <- compress(memory, raw)
	}()
}

// await waits for the block that is being compressed, and writes it. It does nothing if there is
// none.
func (w *storedWriter) await() {
	if w.compressing == nil {
		return
	}
	w.compressed = <-w.compressing
	w.compressing = nil
	o := w.object
	from := len(o.content)
	o.content = seal(append(o.content, w.compressed...), from)
	o.stored.add(int64(len(o.content)-from), uint32(len(w.raw)), w.documents)
}

// flush writes all documents that were added: those in the block that is being compressed, and
// those in the open block.
func (w *storedWriter) flush() {
	w.close()
	w.await()
}

// copyBlock copies a block of another segment: sealed is the compressed block with its checksum;
// raw is its size before compression; documents is the number of its documents.
func (w *storedWriter) copyBlock(sealed []byte, raw, documents uint32) {
	w.flush()
	w.object.content = append(w.object.content, sealed...)
	w.object.stored.add(int64(len(sealed)), raw, documents)
}

// storedReader holds the encoded records, bodies and supplements of a block's documents.
type storedReader struct {
	records, bodies, supplements [][]byte
}

// openStored checks and decompresses a block of stored documents. The parameter sealed holds the
// block with its checksum; raw is the block's size in bytes before compression; documents is the
// number of its documents.
func openStored(sealed []byte, raw uint32, documents int) (*storedReader, error) {
	compressed, err := unseal(sealed)
	if err != nil {
		return nil, err
	}
	frame, compressed, err := cutFrame(compressed)
	if err != nil {
		return nil, err
	}
	content, err := decompress(make([]byte, 0, raw), compressed)
	if err != nil {
		return nil, err
	}
	if len(content) != int(raw) || documents > len(content) {
		return nil, damaged("it holds %d bytes, not %d", len(content), raw)
	}
	supplements, err := openFrame(frame, documents)
	if err != nil {
		return nil, err
	}
	p := parser{data: content}
	sizes := make([][2]int, documents)
	for i := range sizes {
		sizes[i] = [2]int{int(p.number(MaxRecord)), int(p.number(MaxRecord))}
	}
	r := &storedReader{records: make([][]byte, documents), bodies: make([][]byte, documents), supplements: supplements}
	for i, size := range sizes {
		r.records[i] = p.take(size[0])
	}
	for i, size := range sizes {
		r.bodies[i] = p.take(size[1])
	}
	if p.failed || p.left() > 0 {
		return nil, damaged("it does not hold what it tells of")
	}
	return r, nil
}

// document returns the i-th document of the block.
func (r *storedReader) document(i int) (Document, error) {
	d, err := parseRecord(r.records[i])
	d.Body = string(r.bodies[i])
	if err == nil {
		err = parseSupplement(r.supplements[i], &d)
	}
	return d, err
}

// encoder and decoder are shared by all segments. They are made before main begins, and not at their
// first use. So a test that measures the memory of some work does not count that of the two.
var (
	encoder = newEncoder()
	decoder = newDecoder()
)

// newEncoder returns an encoder that has compressed once already, so that it has allocated its
// memory.
func newEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // an option that is not valid
	}
	e.EncodeAll(nil, nil)
	return e
}

func newDecoder() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxColumn), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // an option that is not valid
	}
	return d
}

func compress(dst, content []byte) []byte { return encoder.EncodeAll(content, dst) }

// decompress returns the decompressed bytes. It overwrites the memory of dst with them
// if that is large enough; otherwise it allocates memory.
func decompress(dst, compressed []byte) ([]byte, error) {
	content, err := decoder.DecodeAll(compressed, dst[:0])
	if err != nil {
		return nil, damaged("%w", err)
	}
	return content, nil
}
