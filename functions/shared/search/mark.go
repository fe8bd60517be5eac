package search

import (
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// textMarker finds the words of a query in texts.
type textMarker struct {
	memory  *Memory
	words   map[uint64]meant // word of the query to which each term belongs, by the term's hash
	bits    uint64           // bits of these hashes (see bitOf)
	begins  beginnings       // tells by the first characters of a word whether the word can match
	weights []float64        // weight of each word of the query
	written []string         // each word as it is written in the query
	all     float64          // sum of the weights of the words that are marked

	vocabulary *vocabulary
	inner      bool   // whether stemming in the current text's language changes more than the ends of words
	flat       []byte // memory for the characters of a joined word
}

// meant says to which word of the query a term belongs.
type meant struct {
	word int // index of the word in plan.words
	// whether the word is a lone character of a script without spaces. Texts of such scripts are
	// indexed as pairs of characters. A pair that begins with the lone character matches, but only
	// the first character of the pair is marked.
	half bool
}

// span is a match in a text: its byte range, and the word that it matches, as an index in
// plan.words.
type span struct{ start, end, word int }

// newMarker returns a marker for the words of a plan. Stop words are not marked, unless the query has no
// other words. The caller must call the marker's method end after use.
func newMarker(p *plan, memory *Memory) *textMarker {
	m := &textMarker{memory: memory, vocabulary: memory.lend(), words: make(map[uint64]meant, len(p.words))}
	all := p.hasOnlyStopWords()
	for n, w := range p.words {
		m.weights, m.written = append(m.weights, w.weight), append(m.written, w.text)
		if !all && w.stop > 0.5 && !w.required {
			continue
		}
		m.all += w.weight
		for _, v := range w.searched() {
			if v.alternative == nil {
				term, _ := segment.CutImageTerm(v.term)
				m.words[hashOf(term)] = meant{n, w.lone}
				m.begins.add(term)
			}
		}
	}
	for n, w := range p.words {
		m.addAlternatives(p, n, w)
	}
	m.begins.setPairs()
	for hash := range m.words {
		m.bits |= bitOf(hash)
	}
	return m
}

// addAlternatives makes m mark the words of those synonyms of the word w that are several words, such as high
// availability for ha. The parameter n is the number of w among the words of the query. Each word is marked
// wherever it occurs. Stop words are not marked. Words that the query itself has stay as they are.
func (m *textMarker) addAlternatives(p *plan, n int, w *queryWord) {
	for _, v := range w.variants {
		if v.alternative == nil {
			continue
		}
		for _, of := range v.alternative.words {
			if p.stopWord(of) > 0.5 {
				continue
			}
			for _, part := range of.variants {
				if _, known := m.words[hashOf(part.term)]; !known {
					m.words[hashOf(part.term)] = meant{n, of.lone}
					m.begins.add(part.term)
				}
			}
		}
	}
}

// Mark marks the words of a query in texts of a page, such as its paragraphs. The words are those that would be
// marked in a snippet, but the texts are whole and keep their white space. The page is in the given language.
// For each text it returns its pieces, the marked words and what is between them. Words that a prefix (fox*) or a
// word with edits (foks~) stands for are not marked, because Mark does not look them up in the index.
func (ix *Index) Mark(q Query, language string, texts []string) [][]Fragment {
	p := ix.plan(&q, false)
	p.joinNeighbours()
	stopWords := analysis.StopWordsOf(language)
	for _, w := range p.words {
		if stopWords.Has(w.surface) {
			w.stop = 1
		}
	}
	m := newMarker(p, ix.memory)
	defer m.end()
	m.begin(&segment.Document{Lang: language})
	marked := make([][]Fragment, len(texts))
	for i, text := range texts {
		var spans []span
		end := len(text)
		m.each(text, 0, &end, func(s span) { spans = append(spans, s) })
		marked[i] = cutAtMatches(text, window{0, len(text)}, spans)
	}
	return marked
}

// hit returns the hit for a document, with the matches in its title and its snippet marked, and with the
// sections to which the hit leads.
func (m *textMarker) hit(d *segment.Document) Hit {
	m.begin(d)
	h := Hit{Document: *d, MarkedTitle: m.whole(d.Title)}
	h.Snippet, h.Section, h.Further = m.excerpt(withoutTitle(d))
	h.Body, h.Images, h.Sections, h.Entries = "", nil, nil, nil
	return h
}

// begin makes a document the current one, whose texts are marked next.
func (m *textMarker) begin(d *segment.Document) {
	m.vocabulary.read(d.Lang)
	m.inner = analysis.ChangesInside(d.Lang)
}

func (m *textMarker) end() { m.memory.giveBack(m.vocabulary) }

// signSize is the number of bytes after a single letter that are analysed with it, because they may
// belong to a name such as C++.
const signSize = 2 + utf8.UTFMax

// each calls yield with every match that begins in text[from:*end], and returns the offset up to which it
// has read. The function yield may move the end of the range by changing *end. A word is not analysed if
// its first characters show that it cannot match.
func (m *textMarker) each(text string, from int, end *int, yield func(span)) int {
	for from < *end {
		at := m.begins.next(text, from, *end)
		for from = outsideWord(text, from, at); from <= at && from < *end; {
			from = m.oneWord(text, from, yield)
		}
	}
	return from
}

// outsideWord returns the last offset between from and at that is not inside of a word, or of a joined word such
// as e-mail. If there is none but from, it returns from.
func outsideWord(text string, from, at int) int {
	for at > from && (wordBytes[text[at-1]] || mayJoin[text[at-1]]) {
		at--
	}
	return at
}

// oneWord calls yield with the matches in the word that begins at the offset from, and returns the offset of the
// word's end. If no word begins there, it calls nothing and returns the next offset.
func (m *textMarker) oneWord(text string, from int, yield func(span)) (end int) {
	to, bits := wordEnd(text, from)
	switch {
	case to == from && text[from] == punctuation:
		return from + punctuationSize
	case to == from:
		return from + 1
	}
	if end := joinedEnd(text, to); end > to {
		if m.mayBeJoined(text[from:end]) {
			m.analyse(text, from, end, end, yield)
		}
		return end
	}
	if bits < utf8.RuneSelf && m.may(text[from:to]) || bits >= utf8.RuneSelf && m.begins.mayBeFolded(text[from:to]) {
		m.word(text, from, to, yield)
	}
	return to
}

// joinedEnd returns the end of a joined word such as e-mail, given the end of one of its parts. If
// no other part follows, the end of the word is the end of this part.
func joinedEnd(text string, end int) int {
	for end < len(text) && mayJoin[text[end]] {
		joiner := analysis.Joiner(text, end)
		if joiner == 0 {
			return end
		}
		next, _ := wordEnd(text, end+joiner)
		if next == end+joiner {
			return end
		}
		end = next
	}
	return end
}

// mayJoin is true for each byte that can begin a character which joins the parts of a word such as
// e-mail (see analysis.Joiner).
var mayJoin = [256]bool{'-': true, '_': true, punctuation: true}

// may reports whether an ASCII word of the current text may match the query. It decides by the
// first characters of the word.
func (m *textMarker) may(word string) bool {
	return m.begins.may(word) && (m.inner || m.begins.mayBeStemmed(word))
}

// mayBeJoined reports whether a joined word of the current text, such as e-mail, may match the query.
// It may if one of its parts (e or mail) or its joined form (email) matches. A part of one character, which may
// belong to a name such as C++, and one that is not ASCII always may.
func (m *textMarker) mayBeJoined(word string) bool {
	m.flat = m.flat[:0]
	for at := 0; at < len(word); {
		end, bits := wordEnd(word, at)
		if bits >= utf8.RuneSelf || end-at == 1 && m.may(word[at:end]) || end-at > 1 && m.matches(word[at:end]) {
			return true
		}
		m.flat = append(m.flat, word[at:end]...)
		at = max(end, at+1)
	}
	return m.matches(string(m.flat))
}

// matches reports whether a term of an ASCII word of the current text is a term of the query.
func (m *textMarker) matches(word string) bool {
	if !m.may(word) {
		return false
	}
	_, found := m.find(m.vocabulary.word(word))
	return found
}

// find returns the word of the query that has a term of the given word.
func (m *textMarker) find(known *knownWord) (w meant, found bool) {
	if (bitOf(known.term)|bitOf(known.loose))&m.bits == 0 {
		return meant{}, false
	}
	if w, found = m.words[known.term]; !found && known.loose != 0 {
		w, found = m.words[known.loose]
	}
	return w, found
}

// word calls yield with the match if the word text[start:end] matches the query. If only parts of the word
// match, it calls yield with each of these matches.
func (m *textMarker) word(text string, start, end int, yield func(span)) {
	if end-start == 1 {
		m.analyse(text, start, end, min(len(text), end+signSize), yield)
		return
	}
	known := m.vocabulary.word(text[start:end])
	if known.parts == 0 {
		if w, found := m.find(known); found {
			yield(span{start, end, w.word})
		}
		return
	}
	if known.parts&m.bits != 0 {
		m.analyse(text, start, end, end, yield)
	}
}

// analyse calls yield with the matches that begin in text[start:end]. A match may end later, but not after
// the offset context. For example, text[start:end] is the C of C++, and the match also has the two signs.
// A joined word, such as e-mail, matches as a whole only if none of its parts matches.
func (m *textMarker) analyse(text string, start, end, context int, yield func(span)) {
	found := false
	m.vocabulary.analyzer.Each(text[start:context], func(o analysis.Occurrence) bool {
		if start+o.Start >= end {
			return false
		}
		if found && o.Parts > 0 {
			return true
		}
		w, known := m.words[hashOf(o.Term)]
		if !known {
			w, known = m.words[hashOf(o.First)]
		}
		if known {
			s := span{start + o.Start, start + o.End, w.word}
			if w.half {
				s.end = start + o.Half
			}
			found = true
			yield(s)
		}
		return true
	})
}
