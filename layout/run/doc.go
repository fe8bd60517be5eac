// Package run reads and writes runs: the states of finished URLs that the frontier, which is in Redis, has moved to
// the bucket. (A finished URL has been requested, and waits for no other request.) A run is an immutable object that
// is sorted by URL, so that the states of some URLs are found by few ranged reads. Runs are disposable: if one is
// lost, the frontier is rebuilt from the books.
//
// A URL is named by the hash of its site (the upper half of its place) and by its identity. So the URLs of a site are
// neighbours. To find the states of some URLs, a Reader requests the directory at the end, then the blocks in which
// the URLs may be, each with some neighbouring blocks. A cache keeps them for the next URLs. For this package a state is
// any text.
//
//	offset  bytes
//	0       8      FF 'R' 'U' 'N' 'S', version 02, CR LF
//	8       …      blocks, each a zstd frame with a checksum
//	…       …      filters, one for each block: see below
//	…       4      CRC-32C of the filters, u32
//	…       28·k   directory: for each block the site hash u32 and the identity (16 bytes) of its first
//	               URL, the number of its URLs u32, its size in bytes u32
//	−16     4      number of blocks k, u32
//	−12     4      CRC-32C of the directory and k
//	−8      8      the first eight bytes once more
//
// Numbers are big-endian. A block has at most 1024 URLs. The record of a URL is its site hash, its identity and its
// state, one after another. Before compression, a block holds the length of each record (u16), then the first byte of
// every record, then the second byte of those records that have one, and so on. Most records have the same bytes at
// some positions, such as the site hash and the beginning of a version, so these take next to no room. A URL with a
// state of 14 bytes takes some 18 bytes, with those of the filter.
//
// The filter of a block with n URLs has 10·n bits, in as many bytes as they need (Bloom, CACM 1970). Bit i of a filter is
// bit i mod 8, from the lowest, of its byte i/8. Of each URL, seven bits are set, by the halves a and b of its identity as
// numbers of 64 bits, where b is made odd (b|1): the bits (a + j·b) mod 2⁶⁴ mod the number of the filter's bits, for j from
// 0 to 6. So a URL of which only the identity is known is found without reading all blocks.
//
//	version  since       what is new
//	2        2026-11-26  filters. A run of version 1 is not read: no frontier of this version of the program has one.
//	1        2026-11-26
package run
