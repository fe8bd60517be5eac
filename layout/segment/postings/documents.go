package postings

import "encoding/binary"

// appendDocuments appends a block's documents, of which the first is at least
// base.
func appendDocuments(dst []byte, postings []Posting, base uint32) []byte {
	var gaps [BlockSize]uint32
	for i, p := range postings {
		gaps[i] = p.Doc - base
		base = p.Doc + 1
	}
	dst = binary.AppendUvarint(dst, uint64(gaps[0]))
	return appendNumbers(dst, gaps[1:len(postings)])
}

// readDocuments reads len(docs) documents and returns what follows them, false
// if damaged. They ascend and are below NoMore.
func readDocuments(docs []uint32, data []byte, base uint32) (rest []byte, ok bool) {
	if docs[0], data, ok = readNumber(data); !ok {
		return nil, false
	}
	if data, ok = readNumbers(docs[1:], data); !ok {
		return nil, false
	}
	next := uint64(base)
	for i, gap := range docs {
		next += uint64(gap)
		docs[i] = uint32(next)
		next++
	}
	return data, next <= NoMore
}
