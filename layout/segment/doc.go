// Package segment keeps the searchable form of a package of pages and searches
// any number of such segments as if they were one.
//
// A segment is one immutable object. Postings are kept in bluge's own format,
// ice version 1, borrowed and loaded whole; nothing of bluge shows in the API.
// Everything else about a document stands in columns and records of our own:
//
//	+--------------------+
//	| FF "BSEG" 01 0D 0A |  magic and version, 8 bytes
//	+--------------------+
//	| postings           |  ice version 1; absent when there is no document
//	+--------------------+
//	| records            |  a zstd frame a document: size of the description
//	|                    |  (uvarint), description (JSON), body; behind them
//	|                    |  bytes that say nothing (see Distinct)
//	+--------------------+
//	| rows               |  56 bytes a document:
//	|   identity         |    16 bytes
//	|   epoch, token     |    u64, u64
//	|   record end       |    u64, from the start of the records
//	|   field lengths    |    4 × u32: title, headings, address, body, in terms
//	+--------------------+
//	| footer             |  size of postings u64, size of records u64,
//	|                    |  documents u64, SHA-256 of all before (32 bytes)
//	+--------------------+
//
// Numbers are big-endian. The same documents in the same order give the same
// bytes from the same program.
//
// # Live documents and scores
//
// Of several versions of a URL only the highest is live. Dead ones neither
// match nor count: document frequencies, the number of documents and average
// field lengths are those of the live documents of all segments, so that a
// score does not depend on how documents were divided into segments.
//
// A word scores the sum of its BM25 scores over the fields, each with a weight
// (k1 = 1.2, b = 0.75; Robertson and Zaragoza, The Probabilistic Relevance
// Framework, 2009), with one inverse document frequency a word: that of the
// field in which the most documents hold it.
//
// # Query language
//
// Words are joined by OR; documents that hold all of them score higher.
// "quoted words" must stand next to each other, +word must and -word must not
// occur; a sign may precede a phrase. Words written together ("os.path",
// Chinese) are several words, which a sign binds to a phrase. At most
// [MaxWords] words and [MaxText] bytes are used, the rest is ignored. A query
// without a word that may or must occur finds nothing.
package segment
