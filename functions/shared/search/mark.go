package search

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// textMarker finds the words of a query in texts.
type textMarker struct {
	memory  *Memory
	words   map[uint64]meant // word of the query to which each term belongs, by the term's hash
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
	for _, w := range p.words {
		if analysis.IsStopWord(language, w.surface) {
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
		to, bits := wordEnd(text, from)
		if to == from {
			from++
			continue
		}
		if end := joinedEnd(text, to); end > to {
			if m.mayBeJoined(text[from:end]) {
				m.analyse(text, from, end, end, yield)
			}
			to = end
		} else if bits < utf8.RuneSelf && m.may(text[from:to]) || bits >= utf8.RuneSelf && m.begins.mayBeFolded(text[from:to]) {
			m.word(text, from, to, yield)
		}
		from = to
	}
	return from
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
// It may if one of its parts (e or mail) or its joined form (email) may match, by their first
// characters. A part that is not ASCII always may.
func (m *textMarker) mayBeJoined(word string) bool {
	m.flat = m.flat[:0]
	for at := 0; at < len(word); {
		end, bits := wordEnd(word, at)
		if bits >= utf8.RuneSelf || end > at && m.may(word[at:end]) {
			return true
		}
		m.flat = append(m.flat, word[at:end]...)
		at = max(end, at+1)
	}
	return m.may(string(m.flat))
}

// word calls yield with the match if the word text[start:end] matches the query. If only parts of the word
// match, it calls yield with each of these matches.
func (m *textMarker) word(text string, start, end int, yield func(span)) {
	if end-start == 1 {
		m.analyse(text, start, end, min(len(text), end+signSize), yield)
		return
	}
	known := m.vocabulary.word(text[start:end])
	if known.parts {
		m.analyse(text, start, end, end, yield)
		return
	}
	w, found := m.words[known.term]
	if !found && known.loose != 0 {
		w, found = m.words[known.loose]
	}
	if found {
		yield(span{start, end, w.word})
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

// beginnings tells by the first characters of a word whether analysis may reduce the word to a term of the
// query. So most ASCII words of a text need not be analysed. Nearly always a word begins as its term does,
// because stemming changes the ends of words. beginnings allows for the exceptions: dying becomes die, the
// German aepfel becomes apfel, the French ffent becomes fent, and a Turkish I becomes a letter other than i.
type beginnings struct {
	// The pairs of characters with which matching words may begin, as a bit for each pair. For example,
	// the bit for f and o is bit n of seconds[m], where m is the number of f and n that of o (see
	// characterOf).
	seconds [characters]uint64
	foreign bool // whether a term begins with a character that is not ASCII
	// for each term, the beginning of all words that stemming may reduce to it. It is the term without its
	// last two characters, which stemming may have changed: hap for happi. For a short term it is "",
	// because stemming may reduce any word to it (see changed).
	stems []string
}

// Stemming changes mostly the ends of words: happy becomes happi. A stem of at least 5 bytes (the constant
// regular) differs from its word in at most its last 2 characters (the constant changed). A shorter stem
// may differ from its word in any character: dying becomes die.
const changed, regular = 2, 5

const characters = 36 // number of ASCII letters and digits, without regard to case

// characterOf gives each byte a number: ASCII digits have 0–9, ASCII letters of either case 10–35,
// and all other bytes the number in the constant characters.
var characterOf = func() (numbers [256]uint8) {
	for c := range numbers {
		switch lower := byte(c | 0x20); {
		case '0' <= c && c <= '9':
			numbers[c] = uint8(c - '0')
		case c < utf8.RuneSelf && 'a' <= lower && lower <= 'z':
			numbers[c] = 10 + lower - 'a'
		default:
			numbers[c] = characters
		}
	}
	return numbers
}()

// wordBytes marks the bytes that always belong to a word: ASCII letters and digits, and all bytes
// above ASCII except the constant punctuation, which may also begin a dash or quotation mark.
var wordBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= utf8.RuneSelf && c != punctuation || characterOf[c] < characters
	}
	return is
}()

// punctuation is the first byte, in UTF-8, of dashes, quotation marks and apostrophes (U+2010 to
// U+2027), but also of other characters, which may belong to words.
const punctuation = 0xE2

// wordEnd returns the end of the word that begins at the offset i, or i if no word begins there. A word
// ends before the first byte that is not a word byte (see wordBytes), and before a dash or quotation
// mark (see punctuation). The result bits is the OR of all bytes of the word. If it is below
// utf8.RuneSelf, the word is ASCII.
func wordEnd(text string, i int) (end int, bits byte) {
	for ; i < len(text); i++ {
		c := text[i]
		if !wordBytes[c] && (c != punctuation || len(text)-i > 2 && text[i+1] == 0x80 && 0x90 <= text[i+2] && text[i+2] <= 0xA7) {
			break
		}
		bits |= c
	}
	return i, bits
}

// add adds a term of the query to b. From then on, b's other methods return true for each word that
// analysis may reduce to this term. They look only at the beginning of a word, so they also return true
// for some other words.
func (b *beginnings) add(term string) {
	stem := ""
	if len(term) >= regular {
		stem = term[:len(term)-changed]
	}
	b.stems = append(b.stems, stem)
	first := characterOf[term[0]]
	if first == characters {
		if term[0] >= utf8.RuneSelf {
			b.foreign = true
			b.seconds[characterOf['i']] = math.MaxUint64
		}
		return
	}
	if len(term) == 1 || characterOf[term[1]] == characters {
		b.seconds[first] = math.MaxUint64
		return
	}
	b.seconds[first] |= 1<<characterOf[term[1]] | 1<<first
	if term[1] == 'i' {
		b.seconds[first] |= 1 << characterOf['y']
	}
	switch term[0] {
	case 'a', 'o', 'u':
		b.seconds[first] |= 1 << characterOf['e']
	}
}

// may reports whether analysis may reduce a word to one of the terms that were added to b. It
// decides by the word's first two characters. The word must consist of ASCII letters and digits.
func (b *beginnings) may(word string) bool {
	seconds := b.seconds[characterOf[word[0]]]
	if len(word) == 1 {
		return seconds == math.MaxUint64
	}
	return seconds>>characterOf[word[1]]&1 == 1
}

// mayBeFolded reports whether analysis may reduce a word that is not ASCII to one of the terms that
// were added to b. It decides by the word's first character:
//
//	ASCII letter or digit                       true if a term may begin with it
//	Greek, Cyrillic, Armenian, Hebrew letter    true if a term begins with a character that is not ASCII
//	any other character                         true, since analysis may fold it to ASCII, as é to e
func (b *beginnings) mayBeFolded(word string) bool {
	if first := characterOf[word[0]]; first != characters {
		return b.seconds[first] != 0
	}
	r, _ := utf8.DecodeRuneInString(word)
	return b.foreign || r < 0x370 || r > 0x5FF
}

// mayBeStemmed reports whether a stemmer that changes only the ends of words may reduce an ASCII word
// to one of the terms that were added to b. It compares the beginnings. Example: for the term happi it
// returns true if the word begins with hap, because stemming may change the last two characters. For a
// term that is shorter than the constant regular it returns true for every word.
func (b *beginnings) mayBeStemmed(word string) bool {
	return slices.ContainsFunc(b.stems, func(stem string) bool {
		return len(word) >= len(stem) && strings.EqualFold(word[:len(stem)], stem)
	})
}
