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
// A file is read as a stream, with memory that does not grow with the file.
//
// # Damage
//
// For a record that cannot be read, the Reader returns a Fault with the record's place. It
// goes on with the next record that it can find:
//
//	damaged                                        the search for the next record
//	header, date or length; the gzip data are      in the rest of the gzip member, for a line that begins
//	valid                                          with "WARC/1."; else at the next member
//	gzip data, also if their end is missing        from the second byte of the damaged member on, for a
//	                                               member whose content begins with "WARC/1."
//	header or length of an uncompressed record     from the second byte of the damaged record on, for a
//	                                               line that begins with "WARC/1."
//
// The searches in the last two rows read bytes a second time. All of them together read at most
// as many bytes as the file has, and 4 MiB; when these are used up, a search begins where the
// damage was noticed. So the work is proportional to the size of the file, whatever is in it.
package warc
