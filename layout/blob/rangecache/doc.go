// Package rangecache stands between the query engine and the bucket: it reads
// ranges of immutable objects, keeps them in memory and on the local disk, and
// asks the bucket for what it lacks by few requests at once.
//
// An entry is what one Get of one range returns, under the object's key and
// the range as it was asked for. Objects never change, so entries never
// expire; they leave when the budget of bytes asks for it. Errors are not kept.
//
// # Memory
//
// The budget covers contents, the bookkeeping of every entry, that of the
// entries on disk, and what is held elsewhere. What has been given to a caller and
// is no longer kept, and what is on its way from the store, is not covered.
//
// # Disk
//
// A directory "ranges", mode 0700, holds one file an entry. It is named by the
// first 128 bits of SHA-256 of bucket, key and range, in hexadecimal, and
// written under a name new-* and renamed. Numbers are big-endian:
//
//	FF 'B' 'R' 'N' 'G' 01 0D 0A   magic
//	u32     CRC-32C of all that follows
//	u32     size of the bucket's name
//	u32     size of the key
//	i64 i64 offset and length of the range, as it was asked for
//	u64     size of the content
//	        bucket's name, key, content
//
// A file that is not exactly that is deleted, and its range read from the
// bucket. No file is synchronised: what a crash tears, the checksum notices.
// Files count with what they take on the disk.
//
// One cache at a time writes in the directory: the first that has something to
// write takes a lock on the file "lock", finds what is there, and keeps the
// budget from then on. Others read, and take over when it has ended. So the
// budget holds whatever the number of processes.
package rangecache
