package segment

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/vellum"
	"github.com/blevesearch/vellum/levenshtein"
)

// WordSet is a set of words to be looked for in segments (see Segment.Words). It is made by TheWord, Beginning or
// Near, and immutable.
type WordSet struct {
	whole wordRange // all words of the set
	// Ranges that together have all words of the set, and that lie in few pages of a segment. A word may be in two
	// of them.
	ranges []wordRange
	near   *levenshtein.DFA // automaton that counts edits, if Near made the set; else nil
}

// wordRange has the words between two bounds that an automaton accepts. Words are compared as bytes.
type wordRange struct {
	from, to  string           // words that are at or after from, and before to; if to is "", all at or after from
	automaton vellum.Automaton // words that it accepts; nil accepts all
	backward  bool             // whether bounds and automaton are about the words written backward
}

func newSet(r wordRange) WordSet { return WordSet{whole: r, ranges: []wordRange{r}} }

// TheWord returns the set of a single word.
func TheWord(word string) WordSet { return newSet(wordRange{from: word, to: word + "\x00"}) }

// Beginning returns the set of the words with a prefix.
func Beginning(prefix string) WordSet { return newSet(beginning(prefix, false, nil)) }

func beginning(prefix string, backward bool, a vellum.Automaton) wordRange {
	return wordRange{from: prefix, to: string(afterPrefix(prefix)), backward: backward, automaton: a}
}

// afterPrefix returns the least string that follows all strings with the prefix in byte order, or nil if
// there is none.
func afterPrefix(prefix string) []byte {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// halfLeast is the least number of characters of both halves by which words near another one are looked for.
const halfLeast = 2

// Near returns the set of the words that differ from a word by at most so many edits, which must be 1 or 2. An edit
// inserts, deletes or replaces a character, or swaps two neighbours.
//
// Such words may begin with any letter: jello is near hello. So Near divides the word into two halves, as did Mihov
// and Schulz in Fast Approximate Search in Large Dictionaries (2004). There are two kinds of words near it:
//
//	all edits are in the first half    the word ends with the second half: these words lie close together in
//	                                   the pages of words that are written backward
//	an edit is in the second half      the word begins with the first half or, if edits is 2, with something that
//	                                   is at most one edit away from it
//
// An edit that swaps the two characters at the border of the halves counts as one of the second half. That is why
// the first half is taken without its last character.
func Near(word string, edits int) (WordSet, error) {
	all, err := levenshteinOf(word, edits)
	if err != nil {
		return WordSet{}, err
	}
	set := newSet(wordRange{automaton: all})
	set.near = all
	characters := []rune(word)
	half := len(characters)/2 + 1
	if edits > 1 {
		half = max(half, len(characters)-3)
	}
	if half-1 < halfLeast || len(characters)-half < halfLeast {
		return set, nil
	}
	begin := string(characters[:half-1])
	backward, err := levenshteinOf(reversed(word), edits)
	if err != nil {
		return WordSet{}, err
	}
	forward := beginning(begin, false, all)
	if edits > 1 {
		nearBegin, err := levenshteinOf(begin, edits-1)
		if err != nil {
			return WordSet{}, err
		}
		forward = wordRange{automaton: &begunNear{all, nearBegin}}
	}
	set.ranges = []wordRange{forward, beginning(reversed(string(characters[half:])), true, backward)}
	return set, nil
}

// Edits returns the number of edits between a word of a set that Near made and the word that Near was given; 0 for
// words of other sets.
func (s *WordSet) Edits(word string) int {
	if s.near == nil {
		return 0
	}
	_, n := s.near.MatchAndDistance(word)
	return int(n)
}

// has reports whether a word is in a range that is not backward.
func (r *wordRange) has(word []byte) bool {
	if string(word) < r.from || r.to != "" && string(word) >= r.to {
		return false
	}
	if r.automaton == nil {
		return true
	}
	state := r.automaton.Start()
	for i := 0; i < len(word) && r.automaton.CanMatch(state); i++ {
		state = r.automaton.Accept(state, word[i])
	}
	return r.automaton.CanMatch(state) && r.automaton.IsMatch(state)
}

// reversed returns a text with its characters in reverse order.
func reversed(text string) string { return string(appendReversed(nil, text)) }

func appendReversed[S string | []byte](b []byte, text S) []byte {
	for end := len(text); end > 0; {
		_, size := utf8.DecodeLastRuneInString(string(text[max(0, end-utf8.UTFMax):end]))
		b = append(b, text[end-size:end]...)
		end -= size
	}
	return b
}

// begunNear is an automaton for words that the automaton word accepts, and that begin with something that the
// automaton begin accepts.
type begunNear struct{ word, begin *levenshtein.DFA }

// A state of begunNear has a state of word in its higher bits, and one of begin in its lower beginBits bits. As soon
// as begin has accepted a beginning, hasBegun stands there instead.
const (
	beginBits = 24
	hasBegun  = 1<<beginBits - 1
)

func (a *begunNear) state(word, begin int) int {
	if begin != hasBegun && a.begin.IsMatch(begin) {
		begin = hasBegun
	}
	return word<<beginBits | begin
}

// Start implements vellum.Automaton.
func (a *begunNear) Start() int { return a.state(a.word.Start(), a.begin.Start()) }

// IsMatch implements vellum.Automaton.
func (a *begunNear) IsMatch(state int) bool {
	return state&hasBegun == hasBegun && a.word.IsMatch(state>>beginBits)
}

// CanMatch implements vellum.Automaton.
func (a *begunNear) CanMatch(state int) bool {
	return a.word.CanMatch(state>>beginBits) && (state&hasBegun == hasBegun || a.begin.CanMatch(state&hasBegun))
}

// WillAlwaysMatch implements vellum.Automaton.
func (a *begunNear) WillAlwaysMatch(int) bool { return false }

// Accept implements vellum.Automaton.
func (a *begunNear) Accept(state int, b byte) int {
	begin := state & hasBegun
	if begin != hasBegun {
		begin = a.begin.Accept(begin, b)
	}
	return a.state(a.word.Accept(state>>beginBits, b), begin)
}

// levenshteinOf returns an automaton that accepts all words that differ from a word by at most 1 or 2 edits.
func levenshteinOf(word string, edits int) (*levenshtein.DFA, error) {
	dfa, err := builders()[edits-1].BuildDfa(word, uint8(edits))
	if err != nil {
		return nil, fmt.Errorf("cannot look for words like %q: %w", word, err)
	}
	return dfa, nil
}

// builders returns the builders of automata for one edit and for two, where a swap of neighbouring characters is one
// edit. They are immutable.
var builders = sync.OnceValue(func() (all [2]*levenshtein.LevenshteinAutomatonBuilder) {
	for i := range all {
		var err error
		if all[i], err = levenshtein.NewLevenshteinAutomatonBuilder(uint8(i+1), true); err != nil {
			panic(err) // of constants
		}
	}
	return all
})

// mayHave reports whether a word of the range may be after one string, and at or before another; both are written
// backward if the range is. It may return true although there is none.
func (r *wordRange) mayHave(after, last string) bool {
	return last >= r.from && (r.to == "" || after < r.to) && (r.automaton == nil || acceptsWithin(r.automaton, after, last))
}

// acceptsWithin reports whether an automaton may accept a string that is after one string, and at or before another.
func acceptsWithin(a vellum.Automaton, after, last string) bool {
	state, common := a.Start(), sharedPrefix(after, last)
	for i := range common {
		if state = a.Accept(state, last[i]); !a.CanMatch(state) {
			return false
		}
	}
	if common == len(last) {
		return true
	}
	low := 0
	if common < len(after) {
		low = int(after[common]) + 1
		if acceptsAfter(a, a.Accept(state, after[common]), after[common+1:]) {
			return true
		}
	}
	return accepts(a, state, low, int(last[common])) || acceptsUpTo(a, a.Accept(state, last[common]), last[common+1:])
}

// accepts reports whether an automaton may accept a string from a state on that begins with one of the bytes from low
// to high-1.
func accepts(a vellum.Automaton, state, low, high int) bool {
	for c := low; c < high; c++ {
		if a.CanMatch(a.Accept(state, byte(c))) {
			return true
		}
	}
	return false
}

// acceptsAfter reports whether an automaton may accept, from a state on, a string that is after another.
func acceptsAfter(a vellum.Automaton, state int, after string) bool {
	for i := range len(after) {
		if !a.CanMatch(state) {
			return false
		}
		if accepts(a, state, int(after[i])+1, 256) {
			return true
		}
		state = a.Accept(state, after[i])
	}
	return a.CanMatch(state)
}

// acceptsUpTo reports whether an automaton may accept, from a state on, a string that is at or before another.
func acceptsUpTo(a vellum.Automaton, state int, last string) bool {
	for i := range len(last) {
		if !a.CanMatch(state) {
			return false
		}
		if a.IsMatch(state) || accepts(a, state, 0, int(last[i])) {
			return true
		}
		state = a.Accept(state, last[i])
	}
	return a.IsMatch(state)
}
