package segment

// pieces are bytes that are written one after another. They lie in pieces of
// memory, so that none has to grow.
type pieces struct {
	before  [][]byte // of content
	content []byte
}

// spill begins a new piece of memory once the last is large.
func (p *pieces) spill() {
	const piece = 1 << 20
	if len(p.content) >= piece {
		p.before = append(p.before, p.content)
		p.content = make([]byte, 0, piece+piece/4)
	}
}

// length returns the bytes of all pieces.
func (p *pieces) length() int {
	n := len(p.content)
	for _, piece := range p.before {
		n += len(piece)
	}
	return n
}

// moveTo appends all pieces to b, and forgets them.
func (p *pieces) moveTo(b []byte) []byte {
	for i, piece := range p.before {
		b = append(b, piece...)
		p.before[i] = nil
	}
	b = append(b, p.content...)
	*p = pieces{}
	return b
}
