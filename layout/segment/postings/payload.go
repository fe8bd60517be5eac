package postings

// The payload of a block is all of its postings except the numbers of the documents. It begins with
// a byte of bits:
//
//	bits 0 to 3   1: the set of documents with the term in field 0 to 3 is written
//	bits 4 to 6   1: the set of documents in which the term has the hits Capitals,
//	              Large or Emphasis is written
//	bit 7         1: all frequencies are 1, and not written
//
// A set that is not written is the one that the function usual returns. The constant sets is the
// number of sets, ones is bit 7 of the byte, and body is the number of the field Body.
const (
	sets = Fields + 3
	ones = 1 << sets
	body = Fields - 1
)

// usual returns the value that one of a payload's seven sets of documents most often has. Sets 0 to
// 3 are the documents with the term in each of the four fields, and sets 4 to 6 those with each bit
// of Hits. Most often all documents have the term in the body, and the other sets are empty. Only a
// set with another value is written. The parameters are the number of the set, and the number of
// documents in the block.
func usual(which, n int) set {
	if which == body {
		return all(n)
	}
	return set{}
}

// appendPayload appends the payload of a block: everything except the documents'
// numbers and, if withLengths is false, their length codes.
func appendPayload(dst []byte, postings []Posting, withLengths bool) []byte {
	var members [sets]set
	written, n := byte(ones), len(postings)
	for i := range postings {
		p := &postings[i]
		for field, freq := range p.Freq {
			if freq > 0 {
				members[field].add(i)
			}
			if freq > 1 {
				written &^= ones
			}
		}
		for bit := range sets - Fields {
			if p.Hits>>bit&1 == 1 {
				members[Fields+bit].add(i)
			}
		}
	}
	at := len(dst)
	dst = append(dst, 0)
	for which, s := range members {
		if s == usual(which, n) {
			continue
		}
		written |= 1 << which
		if n > 1 {
			dst = appendSet(dst, s, n)
		}
	}
	dst[at] = written
	for field := range Fields {
		dst = appendField(dst, postings, members[field], field, written&ones == 0, withLengths)
	}
	return dst
}

// appendField appends the frequencies and length codes that a block's postings have in one field. It
// encodes only postings with the term in this field; their indexes are in the set s. The parameter
// withFreqs is false if all frequencies in the block are 1; then they are not written. Length codes are written only
// if withLengths is true.
func appendField(dst []byte, postings []Posting, s set, field int, withFreqs, withLengths bool) []byte {
	var freqs, lengths [BlockSize]uint32
	n, least := 0, uint32(255)
	for i := range s.each {
		freqs[n], lengths[n] = postings[i].Freq[field]-1, uint32(postings[i].Length[field])
		least = min(least, lengths[n])
		n++
	}
	if withFreqs {
		dst = appendNumbers(dst, freqs[:n])
	}
	if !withLengths {
		return dst
	}
	if n < few {
		for _, length := range lengths[:n] {
			dst = append(dst, byte(length))
		}
		return dst
	}
	for i := range lengths[:n] {
		lengths[i] -= least
	}
	return appendNumbers(append(dst, byte(least)), lengths[:n])
}

// payload is the decoded postings of a block, without the numbers of the documents.
type payload struct {
	freq   [BlockSize][Fields]uint32
	length [BlockSize][Fields]uint8
	hits   [BlockSize]Hits
	fields [Fields]set // for each field, the documents with the term in this field
	apart  distances   // the variable apart in lists of version 2, zeros in those of version 1

	// memory for readField: the values of one field, for the documents with the term in this field
	freqs, lengths [BlockSize]uint32
}

// read decodes the payload of a block with the given documents. The parameter lengths is as for Open. It returns false
// if data is damaged, or has more bytes after the payload.
func (p *payload) read(data []byte, docs []uint32, lengths Lengths) (ok bool) {
	n := len(docs)
	clear(p.freq[:n])
	clear(p.hits[:n])
	if len(data) == 0 || lengths != nil && uint64(docs[n-1]) >= uint64(len(lengths)) {
		return false
	}
	if lengths == nil {
		p.apart = distances{}
		clear(p.length[:n])
	} else {
		p.apart = apart
		for i, doc := range docs {
			p.length[i&(BlockSize-1)] = lengths[doc]
		}
	}
	written := data[0]
	data = data[1:]
	for which := range sets {
		s := usual(which, n)
		if written>>which&1 == 1 {
			if n == 1 {
				s = all(1).minus(s)
			} else if s, data, ok = readSet(data, n); !ok {
				return false
			}
		}
		if which < Fields {
			p.fields[which] = s
		} else {
			for i := range s.each {
				p.hits[i] |= 1 << (which - Fields)
			}
		}
	}
	for field := range Fields {
		if data, ok = p.readField(data, field, n, written&ones == 0, lengths == nil); !ok {
			return false
		}
	}
	return len(data) == 0
}

// readField decodes the frequencies and length codes of one field that appendField wrote for the
// n documents of a block, and returns the bytes after them. ok is false if data is damaged.
func (p *payload) readField(data []byte, field, n int, withFreqs, withLengths bool) (rest []byte, ok bool) {
	count := p.fields[field].count()
	freqs := p.freqs[:count]
	if !withFreqs {
		clear(freqs)
	} else if data, ok = readNumbers(freqs, data); !ok {
		return nil, false
	}
	if count == n {
		for i, more := range freqs {
			p.freq[i&(BlockSize-1)][field] = more + 1
		}
	} else {
		from := 0
		for i := range p.fields[field].each {
			p.freq[i][field] = freqs[from] + 1
			from++
		}
	}
	if !withLengths {
		return data, true
	}
	lengths := p.lengths[:count]
	if data, ok = readLengths(lengths, data); !ok {
		return nil, false
	}
	from := 0
	for i := range p.fields[field].each {
		p.length[i][field] = uint8(lengths[from])
		from++
	}
	return data, true
}

// readLengths decodes the length codes of a field for len(lengths) documents, and returns the bytes
// after them. ok is false if data is damaged.
func readLengths(lengths []uint32, data []byte) (rest []byte, ok bool) {
	if len(lengths) < few {
		if len(data) < len(lengths) {
			return nil, false
		}
		for i := range lengths {
			lengths[i] = uint32(data[i])
		}
		return data[len(lengths):], true
	}
	if len(data) == 0 {
		return nil, false
	}
	least := uint32(data[0])
	if data, ok = readNumbers(lengths, data[1:]); !ok {
		return nil, false
	}
	for i := range lengths {
		lengths[i] += least
	}
	return data, true
}
