package search

// The effort of the steps of a search, in units of package effort (about a microsecond of a processor). Each
// step is announced before it is done.
const (
	perTerm     = 4   // a term looked up in a segment
	perPrefix   = 20  // words with a prefix, looked up in the dictionary of a segment
	perFound    = 300 // 256 words that were found so
	perEdit     = 500 // words that are an edit away, looked up in the dictionary of a segment; two edits take twice as much
	perScanned  = 40  // 64 windows of documents, scanned for a word
	perPosition = 1   // a document searched for a word of a phrase
	perMoved    = 8   // the same for a phrase of three words or more, from whose positions they may be moved
	perDocument = 50  // a document of a hit, or of one that may be alike, read
	perHit      = 300 // a hit marked
)

// expected returns the effort that a search for a query with the plan p will take at least, as far as the query
// alone tells: that of looking up its words, and of showing its hits if it has as many as were asked for.
func (ix *Index) expected(q *Query, p *plan) int {
	effort := q.Size * (perDocument + perHit)
	p.each(func(w *queryWord) {
		effort += len(ix.parts) * (w.effort() + perTerm*len(w.variants))
	})
	return effort
}

// effort returns the effort of looking for the words that w stands for in one segment, if it is a prefix or a word
// with edits.
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
