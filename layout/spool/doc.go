// Package spool is the one object that a batch puts: its pages, already
// compressed as they will stand in their package, and the ledger of all that
// it learnt. Pack reads ledgers first, and bodies when it has gathered enough.
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
//	−12     4    CRC-32C of everything behind the bodies and before this
//	−8      8    FF 'S' 'P' 'O' 'O' 'L', version 01, LF
//
// Numbers are big-endian. The heading gives every run's CRC-32C as it stands
// in the spool, so that damage is found without inflating.
//
//	version  since       what is new
//	1
//	1        2026-11-22  the book may be of its version 2
package spool
