package search

// Effort of the steps of a search, in units of package effort (about a microsecond of a processor). Each constant
// is the effort of the step in its comment, and is announced before the step is done.
const (
	perTerm     = 4   // look up a term in a segment
	perPrefix   = 20  // find the words with a prefix in the dictionary of a segment
	perFound    = 300 // take 256 of the words that were found for a prefix or for edits
	perEdit     = 500 // find the words within one edit in the dictionary of a segment; two edits cost twice as much
	perScanned  = 40  // scan 64 windows of documents for a word
	perPosition = 1   // look for a word of a phrase in a document
	perMoved    = 8   // the same if the phrase has three words or more, which may be moved
	perDocument = 50  // read a document of a hit, or one that may be alike
	perHit      = 300 // mark the words of the query in a hit
)

// expected returns a lower bound of the effort of a search, from the query and its plan p alone: the effort of
// looking up its words, and of showing as many hits as the query asks for. (If fewer are found, the effort may be
// lower.)
func (ix *Index) expected(q *Query, p *plan) int {
	effort := q.Size * (perDocument + perHit)
	p.each(func(w *queryWord) {
		effort += len(ix.parts) * (w.effort() + perTerm*len(w.variants))
	})
	return effort
}

// effort returns the effort of finding, in one segment, the words for which w stands: those with a prefix or with
// edits. It is 0 if w is an ordinary word.
func (w *queryWord) effort() int {
	switch {
	case !w.expands():
		return 0
	case w.edits > 0:
		return perEdit * w.edits
	}
	return perPrefix
}

// effortOf returns the effort of looking for phrases in one document.
func effortOf(phrases []*queryPhrase) (effort int) {
	for _, p := range phrases {
		each := perPosition
		if p.slop > 0 && len(p.words) > 2 {
			each = perMoved
		}
		effort += each * len(p.words)
	}
	return effort
}
