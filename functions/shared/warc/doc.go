// Package warc reads WARC files (ISO 28500), versions 1.0 and 1.1: uncompressed, with a gzip member
// for each record, or compressed as a whole.
//
//	WARC/1.1 CR LF
//	WARC-Type: response CR LF
//	WARC-Target-URI: http://example.org/ CR LF
//	WARC-Date: 2026-11-21T22:00:00.123Z CR LF
//	Content-Length: 41 CR LF
//	CR LF
//	block of 41 bytes: in a response record, the answer of the server as it was sent
//	CR LF CR LF
//
// A file is read as a stream, with memory that does not grow with the file.
//
// # Damage
//
// For a record that cannot be read, the Reader returns a Fault with the record's place. Then it
// searches for the next record:
//
//	what is damaged                       what the Reader searches for, and from where
//	1  a header or length of a record in  a line that begins with "WARC/1.", in the rest of the gzip
//	   a gzip member that is undamaged    member; if there is none, the next member
//	2  the gzip data                      a gzip member whose content begins with "WARC/1.", from
//	                                      the second byte of the damaged member on
//	3  a header or length of a record in  a line that begins with "WARC/1.", from the second byte
//	   a file without gzip                of the damaged record on
//
// In the cases 2 and 3, the search goes back: it begins before the place at which the damage was
// noticed. So it reads some bytes a second time. All searches together may read as many bytes a
// second time as the file has, plus 4 MiB. After that, each search begins where the damage was
// noticed. This keeps the work proportional to the size of the file, whatever the file contains.
package warc
