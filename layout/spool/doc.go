// Package spool reads and writes spool objects. The function fetch stores one for each batch: its
// pages, compressed as they will be in their package, and the ledger of all other results. The
// function pack reads the ledgers first, and the bodies when there are enough of them for a
// package.
//
//	offset  bytes
//	0       8    FF 'S' 'P' 'O' 'O' 'L', version 01, LF
//	8       …    bodies: the compressed runs of the pages, back to back
//	…       b    outcomes and links as a book (see package book)
//	…       r    bodies of the robots.txt answers, back to back
//	…       h    heading: the batch, the pace of its host, vital signs, and the sizes of all bodies, as JSON (see spool.go)
//	−24     4    b, u32
//	−20     4    r, u32
//	−16     4    h, u32
//	−12     4    CRC-32C of everything after the bodies and before this
//	−8      8    FF 'S' 'P' 'O' 'O' 'L', version 01, LF
//
// Numbers are big-endian. The heading has the CRC-32C of every run, so that damage is
// found without decompressing.
//
//	version  since       what is new
//	1
//	1        2026-11-22  the book may be of version 2 of books
//	1        2026-11-24  the book may be of version 3 of books
package spool
