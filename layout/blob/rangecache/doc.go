// Package rangecache is a cache between the query engine and the bucket: it reads ranges
// of immutable objects, keeps them in memory and on the local disk, and requests missing
// ranges from the bucket. One request may cover several ranges.
//
// An entry is the result of one Get of one range, under the object's key and the range
// as it was requested. Objects never change, so entries never expire; they are evicted
// to keep the budget of bytes. Errors are not cached.
//
// # Memory
//
// The budget covers the contents of entries in memory, the bookkeeping of every entry in
// memory and on disk, and the bytes that Hold charges. It does not cover ranges that
// callers still use after their eviction, or ranges that are being read.
//
// # Disk
//
// A directory "ranges", mode 0700, holds one file for each entry. The file's name is
// the first 128 bits of SHA-256 of bucket, key and range, in hexadecimal. The file is
// written under a name new-*, and then renamed. Numbers are big-endian:
//
//	FF 'B' 'R' 'N' 'G' 01 0D 0A   magic
//	u32     CRC-32C of all that follows
//	u32     size of the bucket's name
//	u32     size of the key
//	i64 i64 offset and length of the range, as it was requested
//	u64     size of the content
//	        bucket's name, key, content
//
// Any other file is deleted, and its range read from the bucket. Files are not synced: the
// checksum reveals a file that a crash left incomplete. A file counts as the disk blocks
// that it occupies.
//
// One cache at a time writes in the directory: the first that has something to write
// locks the file "lock", reads what exists, and keeps the budget from then on. Other
// caches only read; one of them takes over when the first cache ends. So the budget
// holds for any number of processes.
package rangecache
