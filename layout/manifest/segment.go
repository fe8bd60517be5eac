package manifest

// Segment refers to the index of some packages. Its documents are numbered
// part by part.
type Segment struct {
	Key       string     `json:"key"`
	Bytes     int64      `json:"bytes"`
	Tail      int64      `json:"tail"`      // bytes at the end by which it is opened
	Documents int        `json:"documents"` // dead ones too
	Parts     []Part     `json:"parts"`     // of every package at most one
	Deletions *Deletions `json:"deletions,omitempty"`
	// Erase: it holds what is forgotten, which is dead, and is to be written
	// anew without.
	Erase bool `json:"erase,omitempty"`
	// Compared: its documents are compared with those of the partitions to which
	// strategies have sent pages of the same sites. Without, it has to be done.
	Compared bool `json:"compared,omitempty"`
}

// Part is the run of a segment's documents that are of one package.
type Part struct {
	Package   uint32 `json:"package"` // its identifier, also when it is not listed any more
	Documents int    `json:"documents"`
}

// Deletions refers to the overlay that says which documents of a segment are
// dead. Where there is none, all are alive.
type Deletions struct {
	Key       string `json:"key"`
	Bytes     int64  `json:"bytes"`
	Documents int    `json:"documents"` // that are dead
}

// Dead returns how many documents are dead.
func (s *Segment) Dead() int {
	if s.Deletions == nil {
		return 0
	}
	return s.Deletions.Documents
}

// Live returns how many documents are alive.
func (s *Segment) Live() int { return s.Documents - s.Dead() }

// Part returns the documents of a package, from..to-1; found is false where
// the segment has no part of it.
func (s *Segment) Part(id uint32) (from, to int, found bool) {
	for _, part := range s.Parts {
		to = from + part.Documents
		if part.Package == id {
			return from, to, true
		}
		from = to
	}
	return 0, 0, false
}
