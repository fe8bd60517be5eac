// Package book reads and writes books: the outcome of every URL that some batches of the crawl
// requested, and every link found on the pages. The books of a bucket determine the exact state of
// every URL, so that the frontier, which is in Redis, can be lost at any time.
//
// Outcomes are sorted by place, identity and version, links by place and identity of the target.
// The identity is the hash of a URL. The place is 64 bits: the hash of the URL's site, then the
// start of the identity. To read a range of the hash space, a Reader requests the directory at the
// end, then the blocks that overlap the range. Books can be merged into one with the same content
// (see Merge).
//
//	offset  bytes
//	0       8      FF 'B' 'O' 'O' 'K', version 01 to 04, CR LF
//	8       …      blocks of outcomes, then blocks of links, each a zstd frame
//	…       16·n   table of sources: the identities of all pages with links
//	…       d      directory
//	−16     4      d, u32
//	−12     4      CRC-32C of the directory and d
//	−8      8      the first eight bytes once more
//
// The directory, numbers big-endian:
//
//	0       4      blocks of outcomes
//	4       4      blocks of links
//	8       4      n, identities in the table of sources
//	12      4      CRC-32C of the table of sources
//	16      28·k   an entry for each block:
//	               first place u64, last place u64, outcomes or links in it u32,
//	               size compressed u32, CRC-32C of the compressed bytes u32
//	…       4      number of the copy u32, only in a copy that Distinct made
//
// A block is closed at 64 KiB before compression and never passes 256 KiB. It holds its rows column
// by column: the length of each column, then the columns, in the order of the constants in
// outcomes.go and links.go. Column 0 is the bytes of all strings. Numbers are varints as in
// encoding/binary, signed ones zigzag. A string other than a URL is stored as a number k. If k > 0,
// it is the k-th different string of the block, of which the first is empty. If k = 0, it is new in
// the block: its length follows, its bytes are in column 0. A URL is the number of bytes that it
// shares with the URL of the row before, the length of the rest, and the rest in column 0. The low
// half of the URL's place follows from the URL, and is not stored. The site hash, version and time
// (milliseconds since 1970) of an outcome are stored as differences from the row before. The time
// of a link is in seconds since 1970, 0 if there is none. If a link has the same target as the row
// before (linkSame = 1), its site and URL are left out.
//
// Links that differ in nothing but their source, such as the navigation of a
// site, share a row. It holds how many they are, then the indexes of their
// sources in the table, each as the difference to the index before. The table
// is sorted by the URLs of the sources, as far as the book has outcomes of
// them. So pages of one directory are neighbours in the table, and a link of a
// site's navigation costs one byte before compression and next to nothing
// after it. An identity that is all zero stands in place of a page that was erased (see Erase); no row has
// its index.
//
//	version  since       what is new
//	1
//	1        2026-11-22  Digest: the upper 16 bits are a hash of the page's words, used to compute
//	                     its next Exponent, the lower 48 are a hash of its whole text;
//	                     before, all 64 bits were a hash of the words
//	1        2026-11-22  a stored outcome may have a Reason, Panicked, and a Detail
//	1        2026-11-23  other reasons of stored outcomes (see Panicked)
//	2        2026-11-22  outcomes have a Pace, in three columns more: Rest (the column has 0 if
//	                     there is none; else d if d < 0 and d+1 if not, for a Rest d milliseconds
//	                     after the answer), Delay in milliseconds, Failures
//	1        2026-11-24  links of kind 'i' lead to images, style sheets, scripts and icons, which
//	                     their field Rel tells apart; before, to images only
//	3        2026-11-24  outcomes say in one column more whether they are of an asset (1) or not (0)
//	1        2026-11-27  the table of sources may have zeros in place of erased pages
//	4        2026-11-24  links say in one column more whether they are Former (1) or not (0)
//
// A book is written in the lowest version that can express it.
package book
