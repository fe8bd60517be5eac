package search

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

const (
	// fewResults is a number of results. A query that finds fewer is examined for mistakes, even if
	// pages have all its words.
	fewResults = 10
	// maxMistyped is the greatest size of a query that is examined for mistakes, in bytes.
	maxMistyped = 1024
	// maxExamined is the greatest number of words of a query that are examined for mistakes.
	maxExamined = 16
	// maxSpelled is the greatest number of words of a query for which similar words are looked for.
	maxSpelled = 4
)

// Meant is a query that was probably meant where another was typed (see the package, Mistyped queries).
type Meant struct {
	Text   string     // the query; signs, quotes and filters are those of the typed one
	Marked []Fragment // Text, with what differs from the typed query marked
	Total  int        // number of documents that match it; if not Exact, there may be more
	Exact  bool
}

// correction is a change of a query's text.
type correction struct {
	start, end int // range of the text that is replaced, in bytes
	text       string
}

// setMeant sets the field Meant of the search's result if the query is probably mistyped: if some of its words are
// in no document or nearly none, and a corrected query finds more documents. If a word is in no document, it is
// enough that the corrected query finds any. setMeant tries one corrected query only. The parameter finds is the
// number of documents that the query finds as it is written, with its quotes. These queries are not corrected:
//
//	all words are in documents, and at least fewResults documents are found
//	a further page of hits is asked for, or no hits
//	it is one of the searches in several languages that Query.Across makes of one query
//	it is an address (Query.Named), or pages are pinned for it (Query.Pinned)
//	it has more than maxMistyped bytes
//	its result is partial, as a segment could not be read in time
//
// If the effort of looking for a correction is refused (see package effort), a note says so, and the result stays.
func (s *search) setMeant(ctx context.Context, limited deadline, finds int) error {
	err := s.findMeant(ctx, limited, finds)
	if _, is := errors.AsType[*effort.Refused](err); is {
		s.result.Notes = append(s.result.Notes, "The spelling was not checked, as too many costly queries are searched at the moment.")
		return nil
	}
	return err
}

func (s *search) findMeant(ctx context.Context, limited deadline, finds int) error {
	q := s.query
	few := finds < fewResults
	unknown := slices.Contains(slices.Collect(maps.Values(s.plan.known)), 0)
	if q.From > 0 || q.Size == 0 || q.into != nil || len(q.without) > 0 || len(q.Named)+len(q.Pinned) > 0 || s.result.Partial || !unknown && !few {
		return nil
	}
	text := q.Text
	if len(text) > maxMistyped {
		return nil
	}
	corrections, err := s.corrections(limited, text, few)
	if err != nil || len(corrections) == 0 {
		return err
	}
	var better Meant
	better.Text, better.Marked = corrected(text, corrections)
	other := *q
	other.Text, other.Size, other.Facets, other.Explain = better.Text, 0, nil, false
	found, err := s.ix.attempt(ctx, limited, &other, false)
	if err != nil {
		return err
	}
	better.Total, better.Exact = found.result.Total, found.result.Exact
	// A word that pages have, in place of one that none has, makes the best results better, even if others
	// of the query's words find as many, or neither number is exact.
	if !found.result.Partial && (better.Total > finds || unknown && better.Total > 0) {
		s.result.Meant = &better
	}
	return nil
}

// typedPiece is a part of a query between white space.
type typedPiece struct {
	start, end int // range in the query's text, in bytes
	words      []analysis.Word
}

// bare returns the range in the text of the piece without a + and quotes before it, and without quotes behind it.
func (p *typedPiece) bare(text string) (start, end int) {
	behind := strings.TrimLeftFunc(text[p.start:p.end], func(r rune) bool { return r == '+' || isQuote(r) })
	start = p.end - len(behind)
	return start, start + len(strings.TrimRightFunc(behind, isQuote))
}

// plainPieces returns the pieces of a query, divided at white space, in which words may be corrected. It leaves out
// filters and other words with a colon, excluded words, prefixes, words with edits, and e-mail addresses. The
// words of a piece (typedPiece.words) have their ranges in the text of the query.
func plainPieces(text string) (pieces []typedPiece) {
	analyzers := []*analysis.Analyzer{analysis.For("")}
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			i += width
			continue
		}
		end := strings.IndexFunc(text[i:], unicode.IsSpace)
		if end < 0 {
			end = len(text) - i
		}
		p := typedPiece{start: i, end: i + end}
		i = p.end
		written := text[p.start:p.end]
		if name, _, found := strings.Cut(strings.TrimLeft(written, "+-"), ":"); found && name != "" || strings.HasPrefix(written, "-") || strings.ContainsAny(written, "*~@") {
			continue
		}
		p.words = slices.DeleteFunc(analysis.Query(written, analyzers), func(w analysis.Word) bool { return w.Parts > 0 })
		for n := range p.words {
			p.words[n].Start += p.start
			p.words[n].End += p.start
		}
		pieces = append(pieces, p)
	}
	return pieces
}

// corrections returns the changes that correct a query, in the order of its text; none if no word is doubtful. The
// parameter few says whether the query finds fewer than fewResults documents.
func (s *search) corrections(ctx deadline, text string, few bool) ([]correction, error) {
	pieces := plainPieces(text)
	if !slices.ContainsFunc(pieces, func(p typedPiece) bool { return s.plan.doubts(&p, few) }) {
		return nil, nil
	}
	words := newLexicon()
	for {
		all, err := s.correct(ctx, words, text, pieces, few)
		if err != nil || len(words.unread) == 0 {
			return all, err
		}
		if err := words.read(ctx, s.gathered, s.ix); err != nil {
			return nil, err
		}
	}
}

// correct returns the changes that correct a query, in the order of its text, as far as the lexicon knows the words
// of the index.
func (s *search) correct(ctx deadline, words *lexicon, text string, pieces []typedPiece, few bool) (all []correction, err error) {
	seen, spelled := 0, 0 // numbers of words so far: all, and those for which similar words were looked for
	for i := 0; i < len(pieces); i++ {
		p := &pieces[i]
		unknown := slices.ContainsFunc(p.words, s.plan.lacks)
		if unknown || len(p.words) == 0 {
			start, end := p.bare(text)
			if other := words.retyped(text[start:end]); other != "" {
				all = append(all, correction{start, end, other})
				continue
			}
		}
		if joined, ok := s.joined(words, text, pieces[i:]); ok {
			all = append(all, joined)
			i++
			continue
		}
		for _, w := range p.words {
			if seen++; seen > maxExamined || !s.plan.doubtsWord(w, few) {
				continue
			}
			if spelled++; spelled > maxSpelled {
				break
			}
			other, err := s.respelled(ctx, words, w.Text, s.plan.known[w.Text])
			if err != nil {
				return nil, err
			}
			if w.Start > 0 && text[w.Start-1] == '+' {
				other = strings.Replace(other, " ", " +", 1) // both words are required
			}
			if other != "" {
				all = append(all, correction{w.Start, w.End, likeWritten(text[w.Start:w.End], other)})
			}
		}
	}
	return all, nil
}

// doubts reports whether a piece of a query may be mistyped. The parameter few says whether the query finds fewer
// than fewResults documents.
func (p *plan) doubts(of *typedPiece, few bool) bool {
	return len(of.words) == 0 || slices.ContainsFunc(of.words, func(w analysis.Word) bool { return p.doubtsWord(w, few) })
}

// doubtsWord reports whether a word of a query may be mistyped. The parameter few says whether the query finds
// fewer than fewResults documents. Doubtful are
//
//	words in no document               of partFrom letters or more
//	words in rareMost documents or     of spelledFrom letters or more, and without digits, if few is true
//	fewer
func (p *plan) doubtsWord(w analysis.Word, few bool) bool {
	documents, examines := p.known[w.Text]
	return examines && (documents == 0 && utf8.RuneCountInString(w.Text) >= partFrom || few && documents <= rareMost && isSpelled(w.Text))
}

// lacks reports whether a word of the query is in no document.
func (p *plan) lacks(w analysis.Word) bool {
	documents, examines := p.known[w.Text]
	return examines && documents == 0
}

// joined returns the correction of the first two pieces to one word, such as data base to database. It returns
// false unless each piece is a single word, one of the two words is in no document, and the joined word is in two
// documents or more. The parameter words has the words of the index.
func (s *search) joined(words *lexicon, text string, pieces []typedPiece) (correction, bool) {
	if len(pieces) < 2 || len(pieces[0].words) != 1 || len(pieces[1].words) != 1 || pieces[1].start != pieces[0].end+1 {
		return correction{}, false
	}
	a, b := pieces[0].words[0], pieces[1].words[0]
	bare := a.Start == pieces[0].start && a.End == pieces[0].end && b.Start == pieces[1].start && b.End == pieces[1].end
	if !bare || !s.plan.lacks(a) && !s.plan.lacks(b) || words.documents(a.Text+b.Text) < 2 {
		return correction{}, false
	}
	return correction{a.Start, b.End, likeWritten(text[a.Start:a.End], a.Text+b.Text)}, true
}

// respelled returns the word, or the two words with a space between, that are probably meant by a word; "" if there
// are none. The parameter documents is the number of documents with the word: 0, or a few. The parameter words has
// the words of the index.
func (s *search) respelled(ctx deadline, words *lexicon, word string, documents float64) (string, error) {
	near, err := words.near(word)
	if err == nil {
		near, err = s.inLanguages(ctx, near)
	}
	if err != nil {
		return "", err
	}
	best := spelling{}
	if len(near) > 0 {
		best = near[0]
	}
	if documents > 0 {
		if best.edits == 1 && float64(best.documents) >= rareTimes*documents && !s.sameTerm(word, best.word) {
			return best.word, nil
		}
		return "", nil
	}
	if pair, found := words.split(word); found && best.edits != 1 {
		return pair, nil
	}
	return best.word, nil
}

// inLanguages sorts spellings (words of the index that may be meant) anew, by the languages in which the query may
// be written. It multiplies the likelihood of a spelling by the mean, over all documents with the spelling, of
//
//	documents in a language of the query    share of the language in the query, divided by its share in
//	                                        the index; at most 10
//	other documents, such as those in a     0
//	language that lang: excludes
//
// It leaves out spellings with the likelihood 0: those that no document in a language of the query has.
func (s *search) inLanguages(ctx deadline, near []spelling) ([]spelling, error) {
	languages := s.plan.languages
	if len(near) < 2 || len(s.ix.languages) < 2 {
		return near, nil
	}
	const mostEvidence = 10
	all := 0.0
	for i := range languages {
		all += languages[i].documents
	}
	var names []string
	for _, other := range near {
		for _, a := range analysis.Query(other.word, s.plan.analyzers)[:1] {
			for i := range languages {
				names = append(names, a.Terms[a.Of[languages[i].rules]])
			}
		}
	}
	found := make([][]*segment.Term, len(s.parts))
	err := s.each(ctx, func(ctx context.Context, part int) (err error) {
		if !s.parts[part].Unvisited {
			found[part], err = s.parts[part].Segment.TermsBy(ctx, names, false, s.memory)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for n := range near {
		evidence, documents := 0.0, 0.0
		for _, terms := range found {
			most := 0.0
			for i := range languages {
				if terms == nil || terms[n*len(languages)+i] == nil {
					continue
				}
				term := terms[n*len(languages)+i]
				most = max(most, float64(term.Summary.Documents))
				in, _ := term.In(languages[i].name)
				evidence += float64(in) * min(mostEvidence, languages[i].share*all/max(1, languages[i].documents))
			}
			documents += most
		}
		near[n].likely *= evidence / max(1, documents)
	}
	near = slices.DeleteFunc(near, func(other spelling) bool { return other.likely == 0 })
	slices.SortFunc(near, byLikelihood)
	return near, nil
}

// sameTerm reports whether two words have the same term in one of the languages of the query: then each
// finds the pages of the other.
func (s *search) sameTerm(a, b string) bool {
	ofA, ofB := analysis.Query(a, s.plan.analyzers), analysis.Query(b, s.plan.analyzers)
	return len(ofA) == 1 && len(ofB) == 1 && slices.ContainsFunc(ofA[0].Terms, func(term string) bool { return slices.Contains(ofB[0].Terms, term) })
}

// likeWritten returns word with the capitals of other: all in capitals if other is, or with a capital at its
// beginning if other begins with one.
func likeWritten(other, word string) string {
	first, width := utf8.DecodeRuneInString(other)
	switch {
	case !unicode.IsUpper(first):
		return word
	case other[width:] != "" && strings.ToUpper(other) == other:
		return strings.ToUpper(word)
	}
	first, width = utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + word[width:]
}

// corrected returns the text of a query after the corrections, and the same text as fragments, in which the
// corrected words are marked.
func corrected(text string, corrections []correction) (string, []Fragment) {
	var whole strings.Builder
	var marked []Fragment
	add := func(part string, isMarked bool) {
		if part != "" {
			whole.WriteString(part)
			marked = append(marked, Fragment{part, isMarked})
		}
	}
	at := 0
	for _, c := range corrections {
		add(text[at:c.start], false)
		add(c.text, true)
		at = c.end
	}
	add(text[at:], false)
	return whole.String(), marked
}
