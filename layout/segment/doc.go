// Package segment stores the searchable form of pages as one immutable object that can
// be read in few ranges.
//
// Opening a segment reads its tail. After that each of these takes one [Source.Read]: any number of
// terms, all terms with a prefix, any words, positions, stored documents, a column. [Segment.Find] finds documents
// by their identities; for identities that the segment lacks it reads 3.3 bytes a document. A [Builder] makes a
// segment from documents, and [Merge] makes one from several segments, without their dead
// documents. An overlay, a second object, names the dead documents of a segment (see [Deletions]).
//
// # Bytes
//
//	offset  bytes
//	0       8      FF 'B' 'S' 'E' 'G', version 04, CR LF
//	8       …      stored blocks
//	…       …      term blocks, each followed by its positions in pages
//	…       …      columns
//	…       T-20   tail
//	-20     8      T, the size of the tail with these 20 bytes, u64
//	-12     8      size of the object, u64
//	-4      4      CRC-32C of the 16 bytes before
//
// Nothing lies between these parts. Each block, page and column, and the tail, ends with
// the CRC-32C of its bytes, u32. Numbers of fixed size are big-endian, all others varints
// as in encoding/binary. A string is its size and its bytes. A front-coded string, of at
// most 255 bytes, is its difference from the string before it:
//
//	1       high four bits: number of bytes shared with the string before, 15 for
//	        15 or more; low four bits: number of the other bytes, 15 for 15 or more
//	…       for each four bits that are 15: the excess over 15
//	…       the other bytes
//
// A stored block is a zstd frame. It is closed at 64 KiB before compression:
//
//	…       for each document: size of its record, size of its body
//	…       the records (see document.go)
//	…       the bodies
//
// Before this frame, the block may have a skippable frame (RFC 8878, 3.1.2) with supplements of the
// documents. The magic number of this frame is 184D2A50. Its content is a second zstd frame:
//
//	…       for each document: size of its supplement, supplement (see supplement.go)
//
// A term block holds terms in ascending order. It is closed at 8 KiB; a term whose list of postings
// is larger has a block of its own. So each term, and all terms with the same prefix, are in one
// range of the object:
//
//	…       for each term: the term, front-coded; size of its list of postings; list of
//	        version 2 (see layout/segment/postings); numbers of its documents by
//	        language (see languages.go)
//
// A term from the texts of a page's images ends with the byte 02 (see ImageTerm). Its occurrences
// do not count in the length of a field. A term of a site's name ends with the bytes 03 02 (see
// NameTerm), and a term of a name that the page defines with the bytes 04 02 (see DefinitionTerm).
//
// The positions of a block's terms follow the block, in the order of the terms, in pages
// of 1020 bytes and their CRC; the last page may be shorter. So a query can read the block
// alone, or the block and its positions by the same request, or some of the pages.
// Offsets of positions do not count the CRCs.
//
// A column:
//
//	…       size before compression
//	1       1 if a zstd frame follows, 0 if the bytes themselves
//	…       by kind:
//	        1  rows: as many bytes for each document
//	        2  numbers: the lowest number; then the differences from it: their
//	           width in bytes (1 byte), the highest byte of each difference, …,
//	           the lowest byte of each
//	        3  strings: number of strings, strings, ascending; number of sets,
//	           each as size and indexes of strings; each document's set, as
//	           numbers
//	        4  words of earlier programs: a vellum transducer of words as they are
//	           written → number of documents
//	        5  samples of words: for each word, how many documents (at most 8,
//	           1 byte), and each as the distance to the one before
//	        6  suggestions of earlier programs, see below; never compressed as a whole
//	        7  filter of identities, see below; never compressed
//	        8  order of documents in the filter, see below; never compressed
//	        9  page of words: for each word: the word, front-coded; number of
//	           documents; never compressed
//	        10 page of keys of suggestions, see below; never compressed
//	        11 blocks of suggestions, see below; never compressed as a whole
//	        12 sizes of the blocks of suggestions, see below; never compressed
//	        13 rows: as many bytes for each document, in pages of 1020 bytes and their CRC, as
//	           positions are; never compressed
//
// The columns "identity", "version.epoch" and "version.token" lie next to each other, in this order. The last two
// columns are "identity.order" (kind 8) and "identity.filter" (kind 7). A segment without documents lacks these two.
//
// Words are in pages (kind 9). Each page is a column of its own, which is closed at 8 KiB. The same words are in two
// groups of pages:
//
//	column              has
//	"words:…"           words in ascending order
//	"words backward:…"  words that are written backward, in ascending order: olleh for hello
//
// The pages of a group follow each other. The name of a page goes on with a separator: a string that is not below
// the page's last word, but below the next page's first. So the tail says which words each page may have. The column
// "words.samples" (kind 5) has the samples of the words in ascending order.
//
// A row of the column "vector.pages" (kind 13) has 24 entries: the hash of a term, u16, and its weight, a byte.
// Unused entries, at the end, are zero (see Vector).
//
// Suggestions are the names (see Document.Name) and headings of documents, which are offered to people while they
// type. In a segment of anchors they are texts of links to the documents (see Document.Suggested), which count as
// headings here. Suggestions are sorted by their folded texts (see FoldSuggestion). Names with the same folded text
// are one suggestion, and so are headings; of a name and a heading with the same folded text, the name comes first. A
// suggestion is written as in the first document that has it. In their order, suggestions are numbered from 0. They
// are in these columns, in this order, which a segment without suggestions lacks:
//
//	column               has
//	"suggestion sizes"   number of suggestions; number of blocks; for each: its size
//	"suggestion keys:…"  pages of keys. Each page is a column of its own, which is closed at 32 KiB. Names as those
//	                     of pages of words. For each key, in ascending order: the key, front-coded; size of
//	                     its list; for each suggestion with the key, in ascending order:
//	                       …  4 times the difference of its number to that of the one before, plus its Place
//	                       1  its traits:
//	                          bit 7     1 for a name, 0 for a heading
//	                          bits 4–6  binary logarithm of the number of documents, at most 7
//	                          bits 0–3  number of characters divided by 8, at most 15
//	                       …  the first document of its sample, in as many bytes as the number of all
//	                          documents needs
//	"suggestion blocks"  blocks, each of 256 suggestions (the last may have fewer), packed like a column (size
//	                     before compression, 1 or 0, content), and with their CRC-32C. For each
//	                     suggestion: its text, front-coded; twice the number of documents, plus 1 if it is a
//	                     name; a sample of them, as samples of words; if it is a name, the URL of each of these
//
// The keys of a suggestion are its words, in lower case and without accents and other marks, and the parts
// of words that begin with a capital letter inside: "The xmlParser" has the keys the, xmlparser and parser.
// For the typed text "pars", a reader takes the suggestions in the lists of all keys that begin with pars.
// It finds the best of them by their traits and documents, and reads only the blocks of these. In
// Chinese, Thai and other scripts without spaces, the keys are the pairs of neighbouring characters, and
// the last character.
//
// The column "identity.filter" has some bits of the identity of each of the n documents. The first b bits of an
// identity are the number of its bucket, where b is the binary logarithm of n, rounded down. A document's rank is its
// number, from 0, in the order of the first b+24 bits of identities; those with the same bits are in the order of
// their numbers:
//
//	…       for each of the 2^b buckets: a bit 1 for each of its documents, then a bit 0;
//	        the first bit is the lowest of the first byte, and unused bits at the end are 0
//	3·n     for each rank: the 24 bits of the identity after its first b
//
// An example: of three documents, b is 1. If two identities begin with the bit 0 and the third with 1, the buckets
// are 1 1 0 1 0, which is the byte 0B. So the filter has 10 bytes.
//
// The column "identity.order" has, for each rank, the number of the document, in as few bytes (1 to 3) as n-1 needs.
// It is divided into pages of 1020 bytes and their CRC, as positions are.
//
// A reader skips unknown columns. If a column that it needs is missing, its error names
// the column. So a new column needs no new version. Merging keeps only known columns.
//
// The tail:
//
//	1       version, 04
//	1       the least version of a reader, 04
//	…       documents
//	…       for each field: documents that have it, tokens in all of them
//	…       number of languages; each: name, documents, version of its analyzer,
//	        and for each field: documents that have it, tokens in them
//	…       number of parts, which are consecutive documents from one package of
//	        stored pages; each: key of the package, documents
//	…       number of stored blocks; each: size, size before compression,
//	        documents
//	…       number of term blocks; each: size, size of its positions without
//	        CRCs, number of terms, and a front-coded separator: a string that is
//	        not below the block's last term, but below the next block's first.
//	        In segments written since 2026-11-27 it is also not below the
//	        marked forms of the last term, unless the next block begins
//	        with one of these
//	…       number of columns; each: name, kind (1 byte), size
//	…       size of what follows in this line; packed like a column (size before compression, 1 or 0,
//	        content): for each field, the length codes of all documents (see postings.Lengths), a byte each
//	…       number of the copy (see Distinct)
//
// An overlay of deletions:
//
//	0       8      FF 'B' 'O' 'V' 'L', version 01, CR LF
//	8       1      kind, 01
//	9       …      documents of the segment
//	…       …      runs of dead documents: distance to the end of the run
//	               before, length
//	-4      4      CRC-32C
//
// An overlay of ranks (see Rank):
//
//	0       8      FF 'B' 'O' 'V' 'L', version 01, CR LF
//	8       1      kind, 02
//	9       …      n, documents of the segment
//	…       n      each document's Rank, a byte
//	-4      4      CRC-32C
//
// An overlay of anchors is a segment, too. It has a document for each document of the
// segment to which it belongs, with the same number and identity, and without a URL. The
// headings of this document are the anchors of links to the page.
//
// # Limits
//
// A segment that would exceed one of these is not written (see ErrTooLarge):
//
//	4 GiB       whole segment (MaxBytes)
//	2^23        documents (MaxDocuments)
//	256 MiB     a column before compression
//	32 MiB      stored record of a document, with its body, before compression (MaxRecord)
//
// # Words after deletions
//
// For every word as it is written on pages, the segment stores the number of documents
// that contain it, and a sample of at most eight of these documents: those whose
// identities have the lowest hashes. So the samples of several segments can be merged into
// a sample of all. After a merge that left out dead documents, the stored number is
//
//	exact            for a word that was in at most eight documents
//	perhaps too high for any other word, by at most the number of documents left out
//
// A word is dropped when all documents of its sample are dead. So a word without living documents is always
// dropped. A word with living documents may be dropped, too, if it was in more than eight documents and by
// chance all documents of its sample are dead. All this holds for suggestions as well.
//
// # Versions
//
//   - 1: postings in bluge's format, ice; loaded whole. No longer read.
//   - 2: without the numbers of terms and fields by language.
//   - 3: lists of postings are of version 1. They have the length codes of documents, which the tail lacks. Each list is
//     followed by the size of its positions. All words are in the column "words" (kind 4), too. Records may have
//     images, which records of version 2 never have. Some columns and supplements were added later. Segments from
//     before lack them, until their documents are indexed anew:
//     column "language source": counts as empty.
//     column "vector.pages" (see Vector): similar documents do not support each other in searches. It was the
//     column "vector" (kind 1) before, which is read and no longer written. Programs from before
//     "vector.pages" find no vectors in the segment, and lose them if they merge it. Searches use vectors
//     only if all segments of the index have them.
//     column "translation" (see Document.Translation): no dictionaries are learnt from the segment.
//     column "own date" (see Document.Date): no date is known.
//     columns "suggestion …": suggestions are in the column "suggestions" (see below), if there are any.
//     Segments of anchors have suggestions since later. Programs from before these columns find no
//     suggestions in the segment, and lose them if they merge it.
//     columns "identity.filter" and "identity.order": documents are found by their identities in
//     the whole column "identity". The columns "version.epoch" and "version.token" lie elsewhere.
//     columns "words:…" and "words backward:…": words are looked for in the whole column "words".
//     supplements of stored documents: documents have no sections, and their dates are only in
//     the column.
//     entries in the supplements (see Entry): documents have no entries.
//     terms of names that pages define (see DefinitionTerm): searches do not find definitions first.
//     Programs from before the supplements can read blocks with supplements, because readers of
//     zstd skip skippable frames. If such a program merges segments, the supplements of the blocks
//     that it writes anew are lost.
//   - 4: this one. It takes 8 % fewer bytes than version 3.
//
// The column "suggestions" of earlier programs, which is read and no longer written:
//
//	…       number of suggestions
//	…       number of blocks; for each: its size
//	…       size of the transducer
//	…       for each suggestion: its traits, a byte
//	…       for each suggestion: the first document of its sample
//	…       blocks as in "suggestion blocks", but without their CRC, and with the number of documents instead
//	        of twice the number
//	…       a vellum transducer of keys → offset of the key's list in the lists
//	…       lists; each: number of suggestions with the key; for each: 4 times the difference of its number
//	        to that of the one before, plus its Place
//
// The same documents and tokens in the same order give the same bytes.
package segment
