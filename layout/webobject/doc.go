// Package webobject reads and writes Web objects and the packages that keep
// them (thesis 2006, chapter 4). Numbers are big-endian, strings UTF-8, dates
// signed 64-bit milliseconds since 1970-01-01 UTC.
//
// # Web object (.webo)
//
//	 0  FF 57 45 42 4F              FF "WEBO"
//	 5  version                     u8    1, 2, 3 or 4
//	 6  MIME size                   u16
//	 8  URL size                    u16
//	10  data size                   u32
//	14  download cost               u32   milliseconds
//	18  download time               date
//	26  expected expiry             date
//	34  MIME type                   MIME size bytes
//	    URL                         URL size bytes
//	    size of the added fields    u16   not in version 1
//	    added fields                not in version 1
//	    data                        data size bytes
//	    conversion                  only in version 4
//
// The added fields are, without gaps,
//
//	 0  HTTP status                 u16
//	 2  SHA-256 of the data         32 bytes
//	34  epoch, token                number, number
//	    address                     string  of 0, 4 or 16 bytes, or 16 and a zone
//	    collections                 list    of strings
//	    redirects                   list    of strings
//	    response header             list    of fields: string name, string value
//	    reader                      number  only in version 4, as the next three
//	    omitted                     list    of strings
//	    size of the conversion      number
//	    CRC-32 of the conversion    u32
//	    CRC-32 (IEEE)               u32     of all before it; not in version 2
//
// where a number is LEB128 (binary.Uvarint), a string is the number of its bytes and the bytes, a
// list is the number of its elements and the elements. Readers of versions 3 and 4 skip bytes that
// follow the CRC: a later program may append fields without a new version. CRCs and SHA-256
// together cover every bit of a Web object, so that damage of one page is told from damage of its
// neighbours. In version 2, which is no longer written, the header is covered only by the CRC of
// the whole package. A Web object has at most 64 MiB, and its URL is one line.
//
// The conversion is for data that takes long to parse, such as PDF: HTML with the same
// content, made when the data was first parsed. The data itself is kept as fetched.
// Reader is the version of the program that has converted it; omitted lists the parts of
// the content that are not in the HTML. A Web object without a conversion is written in
// version 3.
//
//	version  since       what is new
//	1        thesis
//	2        2026-11-21  the added fields
//	3        2026-11-22  the CRC-32
//	4        2026-11-24  the conversion
//
// # Web object package (.webop)
//
//	0  FF FF 57 4F 50 01 0D 0A      FF FF "WOP" 01 CR LF
//	8  Web objects, one after another
//
// Storage packages hold Web objects of versions 3 and 4. AppendVersion1 and
// WriteDescription make a .webop of version 1 and its description, which every reader
// of the thesis's formats reads; these are not stored in the bucket.
//
// # Description (.webop.desc)
//
//	 0  FF 57 4F 50 44 01           FF "WOPD" 01
//	 6  base                        i16   the pages are expected to stay
//	 8  exponent                    i16   valid base^exponent days
//	10  created                     date
//	18  expires                     date
//	26  0D 0A                       CR LF
//	28  for each Web object: offset ":" size ":" URL CR LF
//
// Offset and size, in decimal, are those in the .webop.
//
// # Map (.webop.map)
//
//	0  FF 57 4F 50 4D 01 0D 0A      FF "WOPM" 01 CR LF
//	8  for each Web object: offset ":" length CR LF
//
// Offset and length, in decimal, are those of the object's run in the .spf.
//
// # Storage package (.spf)
//
// A zip of three members, whose headers hold no extra fields, comments,
// attributes or data descriptors. The time of each member is the package's
// time of creation, in UTC. Every byte of the zip follows from the
// description's header, the runs and their offsets.
//
//	 0  local header
//	43  package.webop, by deflate:
//	      43  00 08 00 F7 FF and the .webop's magic, a stored block
//	      56  a run for each Web object, and holes
//	          03 00, an empty final block
//	    local header, package.webop.desc, stored
//	    local header, package.webop.map, stored
//	    directory
//
// A run is a Web object compressed by itself: whole deflate blocks that refer
// to nothing before them. It ends on a byte boundary, by a sync flush,
// 00 00 FF FF. So one ranged read gets one page, runs can be joined without
// being inflated, and any unzip sees one stream. A package has less than 4 GiB.
// At most 64 MiB of it follow the .webop; they are enough to list the content
// of the package (see List).
//
// A hole replaces the runs of Web objects that were erased (see Erase): empty
// deflate blocks of exactly the same length, so that all other runs keep their
// offsets. It may be before the first run, between two, or after the last. A
// hole of n bytes is
//
//	n mod 5 times            02 00 00 00 FF FF    an empty block of fixed codes, an empty stored one
//	until there are n bytes  00 00 00 FF FF       an empty stored block
//
// Every n from 20 is possible, and every run is longer. Description, map, sizes
// and CRCs are those of the remaining Web objects.
package webobject
