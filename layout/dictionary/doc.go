// Package dictionary stores which terms of one language translate the terms of another, with
// probabilities. The function rank learns them from pages that are translations of each other, and
// stores them as objects below overlays/; the function query translates queries by them.
//
// Terms are those of the index (see strategy/text/analysis): stems, or pairs of characters in
// scripts without spaces.
//
// # Bytes
//
//	offset  bytes
//	0       8      FF 'B' 'D' 'I' 'C', version 01, CR LF
//	8       1      the least version of a reader, 01
//	9       …      the language of the sources, and that of the targets: two strings
//	…       …      number of targets (terms that are translations); each a string, ascending
//	…       …      number of sources (terms that are translated), ascending; each:
//	                 the term, a string
//	                 number of translations, 1–8; each, the most probable first:
//	                   index of a target
//	                   probability in 255ths, 1–255 (1 byte)
//	-4      4      CRC-32C of all before, big-endian
//
// Numbers are varints as in encoding/binary, except where a size is given. A string is its size, at
// most 255, and its bytes. The dictionary from English to German in which house is haus by 200/255
// and gebäud by 50/255:
//
//	FF 42 44 49 43 01 0D 0A | 01 | 02 "en" 02 "de" | 02 07 "gebäud" 04 "haus" |
//	01 05 "house" 02 01 C8 00 32 | CRC
//
// The probabilities of a source need not add up to 1: improbable translations are left out.
//
// # Versions
//
//   - 1: this one. A reader refuses an object whose least version is higher ([ErrVersion]); then
//     queries are answered without it.
//
// The same entries give the same bytes.
package dictionary
