// Package postings encodes the documents of one term: their numbers, how often
// the term occurs in each field, how long the field is, how the term looks, and
// its positions. A list is a sequence of bytes in which any document is found
// without reading those before. Its positions are another sequence of bytes,
// read only when needed. Package segment stores both, with their checksums.
//
// There are two versions of lists. Version 2 lacks the length codes, which are the same in the lists
// of all terms: the reader has them elsewhere (see Lengths). What reads a list is told of which
// version it is; the list does not say it.
//
// # A list
//
// uvarint is a varint of encoding/binary. Documents are gathered in blocks of
// 128; only the last may have fewer.
//
//	uvarint    documents · 16 + b, where b is the bytes of positions, 15 for 15 and more
//	uvarint    bytes of positions − 15, if b is 15
//
// If there is one block, it follows. If there are several:
//
//	4 uvarint  documents that have the term in each field
//	…          impacts of the whole list
//	           for each block:
//	uvarint      how many of the documents between the last document of the
//	             block before and that of this block are not in the list
//	uvarint      bytes of the block
//	uvarint      bytes of its positions
//	…            its impacts
//	…          the blocks
//
// # A block
//
//	uvarint    first document, less the last document of the block before and 1
//	numbers    for each other document, how many documents are between it and the
//	           one before
//	1 byte     bits 0 to 6 say which of seven sets of documents are written. Bits
//	           0 to 3: those with the term in the title, headings, address, body;
//	           4 to 6: those with the hits Capitals, Large, Emphasis. A set that is
//	           not written is the usual one: all documents for the body, otherwise
//	           none. Bit 7 says that all frequencies are 1
//	sets       those that are written, as indexes in the block; nothing if there
//	           is one document
//	           for each field, of the documents with the term in it:
//	numbers      frequencies less 1, unless all are 1
//	…            in version 1: length codes: if they are fewer than 4, each a byte;
//	             otherwise the least as a byte, and the differences from it as numbers
//
// Numbers, if they are fewer than 4, are uvarints. Otherwise:
//
//	1 byte     width w, 0 to 32, and bit 6: 1 if some numbers have more than w bits
//	…          the low w bits of each number, those of the first lowest, padded to
//	           a byte
//	set        if bit 6 is 1: the indexes of the numbers with more bits, never all
//	numbers    if bit 6 is 1: the other bits of each of these numbers, less 1
//
// A set of indexes below n, if n <= 16, is n bits, the first lowest, padded to a byte. Otherwise it
// begins with a byte that says what follows: c, the c members, a byte each; 128 + c, the c indexes
// that are not members, a byte each; 127, the n bits.
//
// Impacts are pairs of a frequency and a length code that bound the scores of a block or a list
// (see Impact). They begin with a byte whose bits say for which fields there are any. For each of
// these fields follow the number of its impacts less 1 in a byte, and the impacts, by frequency. An
// impact is a byte: its high four bits are the frequency, its low four the length code, each less
// that of the impact before. If the high four are 15, the excess over 15 follows as a uvarint;
// then, if the low four are 15, their excess in a byte.
//
// # Positions
//
// The positions of a block's documents follow one another bit by bit, the lowest of a byte first,
// padded to a byte at the end of the block. Each position of a field is stored as its gap, the
// difference from the position before it (the first one's from 0), in Rice's code: gap >> k ones, a
// zero, the low k bits of the gap. If gap >> k >= 16, it is stored as 16 ones and the 32 bits of
// the gap instead. k = floor(log2(mean)), or 0, where mean = floor(floor(13/16 · length) ÷
// frequency) and length is LengthOf the length code. In version 2, k is 4 more in the headings, but
// at most 31.
//
// # An example
//
// A term is in document 3000 alone, twice, once with a capital letter: at the
// positions 5 and 70 of a body of 100 tokens (length code 57, which stands for 96,
// so that k = 5). Its list takes six bytes, its positions two:
//
//	12 | B8 17 | 10 | 01 | 39        CA 02 = 0 10100, 110 10000, 00
//
// In version 2, its list lacks the last byte.
package postings
