// Package postings keeps the documents of one term: which they are, how often
// the term occurs in each field and how long the field is, how the term looks,
// and where it stands. A list is a run of bytes of which any document is found
// without reading those before; its positions are another run, read only when
// needed. A segment keeps the two, their places and their checksums.
//
// # A list
//
// uvarint is a varint of encoding/binary. Documents are gathered in blocks of
// 128; only the last may have fewer.
//
//	uvarint    documents · 16 + bytes of positions, or 15 for 15 and more
//	uvarint    bytes of positions − 15, if that was 15
//	…          the block, if it is the only one (then that is all), or
//
//	4 uvarint  documents that have the term in each field
//	…          impacts of the whole list
//	           for each block:
//	uvarint      documents that are not in the list, from behind the block
//	             before to its last document
//	uvarint      bytes of the block
//	uvarint      bytes of its positions
//	…            its impacts
//	…          the blocks
//
// # A block
//
//	uvarint    first document, less the one behind the block before
//	numbers    of each other the documents between it and the one before
//	1 byte     bits: which of seven sets are written. 0 to 3: has the field,
//	           usually none has title, headings, address and all have a body;
//	           4 to 6: Capitals, Large, Emphasis, usually none.
//	           7: all frequencies are 1
//	sets       those that are written, of the places in the block; nothing if
//	           there is one document
//	           for each field, of the documents that have it:
//	numbers      frequencies less 1, unless all are 1
//	…            length codes: below 4, each a byte; otherwise the least as a
//	             byte, and how much each is more as numbers
//
// Numbers, if they are fewer than 4, are uvarints. Otherwise:
//
//	1 byte     width, 0 to 32, and bit 6: some are wider
//	…          the low bits of each number, the first lowest, padded to a byte
//	set        those that are wider, if bit 6 says so; never all
//	numbers    of these the other bits, less 1
//
// A set of places in n, if n <= 16, is n bits, the first lowest, padded to a
// byte. Otherwise it begins with a byte: c is followed by c places, 128 + c by
// the c places that are not in the set, a byte each, 127 by the bits.
//
// Impacts are a byte of bits that says which fields have any; for each its count
// less 1 in a byte, then the pairs, by frequency: how much the frequency and the
// length code exceed those before, in the halves of a byte, of which 15 in the
// high half is followed by the excess over 15 as a uvarint, and then 15 in the
// low half by the excess in a byte.
//
// # Positions
//
// The positions of a block's documents follow one another bit by bit, the lowest
// of a byte first, padded to a byte at the end of the block. Of each field there
// are as many gaps as the frequency says, the first from 0, in Rice's code: gap
// >> k ones, a zero, the low k bits; or 16 ones and 32 bits, if gap >> k >= 16.
// k = floor(log2(mean)), or 0, where mean = floor(floor(13/16 · length) ÷
// frequency) and length is what the code stands for.
//
// # An example
//
// A term in document 3000 alone, once with a capital, at 5 and 70 of a body of
// 100 (code 57, that is 96, so that k = 5), takes six bytes and two:
//
//	12 | B8 17 | 10 | 01 | 39        CA 02 = 0 10100, 110 10000, 00
package postings
