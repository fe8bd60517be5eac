package postings

import (
	"fmt"
)

// noBlock is a block number that stands for no block. It is not -1, because -1 is the value of
// Iterator.block before the first block.
const noBlock = -2

// Iterator walks a list of postings forwards, document by document. It is not safe for concurrent
// use. If it finds damage, it ends the walk by returning NoMore, and Err returns an error.
type Iterator struct {
	list  *List
	err   error
	block int // number of the current block; -1 before the first block; after the last one, the number of blocks
	at, n int // index of the current document in its block; number of documents in the block
	doc   uint32

	shallow   int // number of the block that Shallow found last
	impacts   []Impact
	impactsOf int // number of the block whose impacts are in the field impacts, or noBlock

	docs      [BlockSize]uint32 // documents of the current block; NoMore from index n on
	rest      []byte            // encoded frequencies, length codes and hits of the current block
	payload   payload
	payloadOf int // number of the block whose payload is in the field payload, or noBlock
	positions cursor
}

// Reset puts the iterator before the first document of a list. It allocates nothing, so that one
// iterator can walk many lists. A zero Iterator may be reset.
func (it *Iterator) Reset(l *List) {
	it.list, it.err = l, nil
	it.block, it.at, it.n, it.doc = -1, -1, 0, 0
	it.shallow, it.impactsOf, it.payloadOf = 0, noBlock, noBlock
	it.positions = cursor{block: noBlock}
}

// Err returns an error if the list was found damaged: then Next has returned NoMore, or Payload has
// returned zeros. Otherwise Err returns nil.
func (it *Iterator) Err() error { return it.err }

// Doc returns the current document, NoMore after the last. It is undefined before the
// first call of Next or Advance.
func (it *Iterator) Doc() uint32 { return it.doc }

// Next moves the iterator to the next document and returns this document.
func (it *Iterator) Next() uint32 {
	if it.at++; it.at < it.n {
		it.doc = it.docs[it.at&(BlockSize-1)]
		return it.doc
	}
	it.open(it.block + 1)
	return it.doc
}

// Advance moves the iterator forwards to the first document that is at least doc, and returns this
// document. The iterator stays where it is if the current document is at least doc.
func (it *Iterator) Advance(doc uint32) uint32 {
	if it.block >= 0 && doc <= it.doc {
		return it.doc
	}
	if it.block < 0 || doc > it.list.blocks[it.block].last {
		it.open(it.find(doc, it.block+1))
		if doc <= it.doc {
			return it.doc
		}
	}
	// The block has such a document; count the documents before it.
	before := 0
	for step := BlockSize / 2; step > 0; step /= 2 {
		if it.docs[(before+step-1)&(BlockSize-1)] < doc {
			before += step
		}
	}
	it.at = before
	it.doc = it.docs[before&(BlockSize-1)]
	return it.doc
}

// open decodes the documents of the block with this number, and moves the iterator to the first of
// them. If the list has no such block, or the block is damaged, the iterator is then after the last
// document.
func (it *Iterator) open(block int) {
	end := len(it.list.blocks) - 1
	if block >= end {
		it.end()
		return
	}
	base := uint32(0)
	if block > 0 {
		base = it.list.blocks[block-1].last + 1
	}
	here := it.list.blocks[block]
	n := it.list.size(block)
	// The data may go on, so that numbers can be loaded eight bytes at a time.
	rest, ok := readDocuments(it.docs[:n], it.list.data[here.at:], base)
	size := int(it.list.blocks[block+1].at) - (len(it.list.data) - len(rest))
	if !ok || size < 0 || it.docs[n-1] != here.last {
		it.err = fmt.Errorf("block %d of %d of a list of %d documents: %w", block, end, it.list.summary.Documents, ErrDamaged)
		it.end()
		return
	}
	for i := n; i < BlockSize; i++ {
		it.docs[i] = NoMore
	}
	it.block, it.at, it.n = block, 0, n
	it.doc = it.docs[0]
	it.rest = rest[:size]
}

// end moves the iterator after the last document.
func (it *Iterator) end() {
	it.block, it.at, it.n, it.doc = len(it.list.blocks)-1, 0, 0, NoMore
}

// Payload returns the current document's frequencies, length codes and hits, valid until the
// iterator moves again. The first call in a block decodes the payload of the block.
func (it *Iterator) Payload() (freq *[Fields]uint32, length *[Fields]uint8, hits Hits) {
	if it.payloadOf != it.block {
		it.openPayload()
	}
	i := it.at & (BlockSize - 1)
	return &it.payload.freq[i], &it.payload.length[i], it.payload.hits[i]
}

// openPayload decodes the current block's payload: its frequencies, length codes and hits. If it is
// damaged, or there is no current block (before the first, after the last), the payload becomes all
// zeros.
func (it *Iterator) openPayload() {
	it.payloadOf = it.block
	if it.n > 0 && it.payload.read(it.rest, it.docs[:it.n], it.list.lengths) {
		return
	}
	it.payload = payload{}
	if it.n > 0 {
		it.err = fmt.Errorf("payload of block %d of a list of %d documents: %w", it.block, it.list.summary.Documents, ErrDamaged)
	}
}

// Shallow finds the first block whose last document is at least doc, and returns this
// last document; NoMore if there is no such block. BlockImpacts then returns the
// impacts of the block. Shallow does not decode the block or move the iterator. The
// parameter doc must not be below the current document.
func (it *Iterator) Shallow(doc uint32) (last uint32) {
	blocks := it.list.blocks
	least := max(it.block, 0)
	it.shallow = max(it.shallow, least)
	switch {
	case doc > blocks[it.shallow].last:
		it.shallow = it.find(doc, it.shallow+1)
	case it.shallow > least && doc <= blocks[it.shallow-1].last:
		it.shallow = it.find(doc, least)
	}
	return blocks[it.shallow].last
}

// BlockImpacts returns the impacts of a block: of the one that Shallow found last, or of the
// iterator's current block if that comes later in the list. It returns nil after the last block. The
// slice is valid until the next call, and must not be changed.
func (it *Iterator) BlockImpacts() []Impact {
	block := max(it.block, it.shallow)
	here := it.list.blocks[block]
	switch {
	case block == len(it.list.blocks)-1:
		return nil
	case here.impacts == 0:
		return it.list.summary.Impacts
	case it.impactsOf != block:
		it.impacts, _, _ = readImpacts(it.impacts[:0], it.list.data[here.impacts:])
		it.impactsOf = block
	}
	return it.impacts
}

// find returns the number of the first block whose last document is at least doc. If there is none,
// it returns len(blocks)-1: the last entry of blocks is an extra one, which stands for no block.
// The search begins at the block whose number is the second parameter. First it gallops forwards,
// by steps that double; then it goes on as a binary search.
func (it *Iterator) find(doc uint32, from int) int {
	blocks := it.list.blocks
	low, high, step := from, from, 1 // all blocks before low end before doc
	for high < len(blocks)-1 && blocks[high].last < doc {
		low = high + 1
		high = min(high+step, len(blocks)-1)
		step *= 2
	}
	for low < high {
		middle := int(uint(low+high) / 2)
		if blocks[middle].last < doc {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return min(low, len(blocks)-1)
}
