package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

const (
	// spelledFrom is the least length, in letters, of a word that is corrected by an edit.
	spelledFrom = 4
	// maxSpellings is the greatest number of words that are considered for one that is typed.
	maxSpellings = 8
	// partFrom is the least length, in letters, of the words into which a word is split.
	partFrom = 3
	// splitMost is the greatest length, in letters, of a word that is split.
	splitMost = 40
	// rareMost is the greatest number of documents of a word that may be a mistake, although pages
	// have it.
	rareMost = 2
	// rareTimes limits the correction of words that pages have. A similar word must be in at least this many times
	// as many documents as the typed word.
	rareTimes = 500
)

// lexicon answers questions about the words of an index, so that all answers are read in one step, although the
// answer to one question may decide whether another is asked. A new question gets the answer that no document has
// such a word. The method read then reads the true answers to all new questions. Whoever has asked a new question
// must ask all questions again after that, and so on until none is new.
type lexicon struct {
	counted, similar map[string]*question // by the word in question: how many documents have it; which words are near it
	unread           []*question          // the new ones
}

// question asks for the words of a set.
type question struct {
	set   segment.WordSet
	found expansions // nil until it was read
}

func newLexicon() *lexicon {
	return &lexicon{counted: make(map[string]*question), similar: make(map[string]*question)}
}

// read reads the answers to all unread questions. It leaves out parts that cannot be read in time.
func (l *lexicon) read(ctx deadline, g *gathered, ix *Index) error {
	sets := make([]segment.WordSet, len(l.unread))
	for i, q := range l.unread {
		sets[i], q.found = q.set, expansions{}
	}
	found := make([][]expansions, len(g.parts))
	err := g.each(ctx, func(ctx context.Context, part int) error {
		if g.parts[part].Unvisited {
			return nil
		}
		words, err := ix.words(ctx, part, sets)
		if err != nil {
			return err
		}
		of := make([]expansions, len(sets))
		for i, set := range sets {
			of[i] = expansions{}
			if err := of[i].collect(ctx, words, set); err != nil {
				return err
			}
		}
		found[part] = of
		return nil
	})
	if err != nil {
		return err
	}
	for _, of := range found {
		for i, words := range of {
			l.unread[i].found.add(words)
		}
	}
	l.unread = nil
	return nil
}

// documents returns the number of documents that have a word as it is written.
func (l *lexicon) documents(word string) uint64 {
	q := l.counted[word]
	if q == nil {
		q = &question{set: segment.TheWord(word)}
		l.counted[word], l.unread = q, append(l.unread, q)
	}
	return q.found[word]
}

// spelling is a word that may be meant where another is typed.
type spelling struct {
	word      string
	documents uint64 // number of documents that have it
	edits     int
	likely    float64 // how likely it is meant, in comparison with other spellings (see likelihood)
}

// near returns the words of the index that are one or two edits away from a word, the most likely first, at most
// maxSpellings. Words of fewer than farFrom letters may have one edit only, and words of fewer than spelledFrom
// letters have no spellings.
func (l *lexicon) near(word string) ([]spelling, error) {
	if !isSpelled(word) {
		return nil, nil
	}
	q := l.similar[word]
	if q == nil {
		edits := 1
		if utf8.RuneCountInString(word) >= farFrom {
			edits = 2
		}
		set, err := segment.Near(word, edits)
		if err != nil {
			return nil, err
		}
		q = &question{set: set}
		l.similar[word], l.unread = q, append(l.unread, q)
	}
	var near []spelling
	for other, documents := range q.found {
		if edits := q.set.Edits(other); other != word && isPlainWord(other) {
			near = append(near, spelling{other, documents, edits, likelihood(word, other, edits, documents)})
		}
	}
	slices.SortFunc(near, byLikelihood)
	return near[:min(len(near), maxSpellings)], nil
}

func byLikelihood(a, b spelling) int {
	return cmp.Or(cmp.Compare(b.likely, a.likely), cmp.Compare(a.word, b.word))
}

// likelihood returns how likely it is that the word other is meant where another one is typed. The value has a
// meaning only in comparison with that of other words. It is the number of documents that have the word, times
//
//	1/100    for each edit but the first
//	1/10     if the two words begin with different letters
//	1/4      if the difference is none of the frequent slips (see isSlip)
func likelihood(typed, other string, edits int, documents uint64) float64 {
	worth := float64(documents)
	for range edits - 1 {
		worth /= 100
	}
	a, _ := utf8.DecodeRuneInString(typed)
	b, _ := utf8.DecodeRuneInString(other)
	if a != b {
		worth /= 10
	}
	if !isSlip(typed, other) {
		worth /= 4
	}
	return worth
}

// isSlip reports whether the difference of two words is one that is frequent when people type:
//
//	two neighbouring letters are swapped      from, form
//	a letter is once or twice in a row        vacum, vacuum
//	a letter is replaced by its neighbour     table, tavle
//	on an English keyboard
func isSlip(typed, other string) bool {
	a, b := []rune(typed), []rune(other)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	a, b = a[max(0, start-1):len(a)-end], b[max(0, start-1):len(b)-end]
	if start == 0 {
		a, b = append([]rune{0}, a...), append([]rune{0}, b...)
	}
	switch len(a) - len(b) {
	case 0:
		return len(a) == 2 && besides(a[1], b[1]) || len(a) == 3 && a[1] == b[2] && a[2] == b[1]
	case 1:
		return len(a) == 2 && a[0] == a[1]
	case -1:
		return len(b) == 2 && b[0] == b[1]
	}
	return false
}

// besides reports whether two letters are on keys beside each other in a row of an English keyboard.
func besides(a, b rune) bool {
	keys := strings.ReplaceAll(latinKeys, " ", "")
	i, j := strings.IndexRune(keys, a), strings.IndexRune(keys, b)
	return i >= 0 && j >= 0 && (i-j == 1 || j-i == 1)
}

// isSpelled reports whether a word may be corrected by an edit.
func isSpelled(word string) bool {
	return utf8.RuneCountInString(word) >= spelledFrom && isPlainWord(word)
}

// isPlainWord reports whether a word consists of letters and marks (such as accents) only. Other words, such as
// utf8 and C++, are neither corrected nor offered as corrections.
func isPlainWord(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
}

// split divides a word into two words of the index, such as vacuumtable into vacuum table. Of all such pairs it
// returns the one whose rarer word is in the most documents. It returns false if in each pair one of the words is
// in fewer than two documents.
func (l *lexicon) split(word string) (pair string, found bool) {
	if !isPlainWord(word) || utf8.RuneCountInString(word) > splitMost {
		return "", false
	}
	most := uint64(1)
	for i := range word {
		a, b := word[:i], word[i:]
		if utf8.RuneCountInString(a) < partFrom || utf8.RuneCountInString(b) < partFrom {
			continue
		}
		if n := min(l.documents(a), l.documents(b)); n > most {
			pair, most = a+" "+b, n
		}
	}
	return pair, most > 1
}

// retyped returns the word of the index that the keys of a text give in another layout of the keyboard (see the
// function retyped): привет for ghbdtn. Of several such words it returns the one in the most documents; "" if
// there is none.
func (l *lexicon) retyped(text string) (best string) {
	most := uint64(0)
	for _, other := range retyped(text) {
		words := analysis.Query(other, []*analysis.Analyzer{analysis.For("")})
		if len(words) != 1 || words[0].Start > 0 || words[0].End < len(other) || utf8.RuneCountInString(other) < partFrom {
			continue
		}
		if n := l.documents(words[0].Text); cmp.Compare(n, most) > 0 {
			best, most = other, n
		}
	}
	return best
}
