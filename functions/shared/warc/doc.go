// Package warc reads WARC files (ISO 28500), versions 1.0 and 1.1: uncompressed, with a
// gzip member for each record, or compressed as a whole.
//
//	WARC/1.1 CR LF
//	WARC-Type: response CR LF
//	WARC-Target-URI: http://example.org/ CR LF
//	WARC-Date: 2026-11-21T22:00:00.123Z CR LF
//	Content-Length: 41 CR LF
//	CR LF
//	block of that many bytes: of a response, the answer of the server as it was sent
//	CR LF CR LF
//
// A file is read as a stream, in memory that does not depend on it.
//
// # Damage
//
// A record that cannot be read is a Fault, which names its place, and reading goes on at
// the next record that can be found:
//
//	what is wrong                                      the next record is sought
//	header, date or length, in sound gzip data         in the rest of the gzip member: a line with
//	                                                   a version; else in the next member
//	gzip data, or their end is missing                 behind the beginning of the damaged member:
//	                                                   a member that begins with a version
//	header or length, uncompressed                     behind the beginning of the damaged record:
//	                                                   a line with a version
//
// To look for a record behind the beginning of a damaged one, bytes are read once more,
// as many in all as the file has, and 4 MiB; after that the search begins where damage was noticed.
// So the work is proportional to the size of the file, whatever is in it.
package warc
