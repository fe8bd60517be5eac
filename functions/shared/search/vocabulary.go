package search

import (
	"hash/maphash"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

const (
	// knownWords is how many words a vocabulary knows at most.
	knownWords = 1 << 13
	// vocabularySize is about what it takes then.
	vocabularySize = 128 * knownWords
	// maxIdle is how many vocabularies wait for the next use.
	maxIdle = 4
)

// vocabulary knows the terms of words that are met often.
type vocabulary struct {
	words    [knownWords]knownWord // by the hash of language and word
	language uint64                // hash of the text's
	analyzer *analysis.Analyzer    // of the text's language
}

// knownWord is a word with one term, or a looser one beside it, for all of it.
type knownWord struct {
	hash        uint64
	term, loose string
	parts       bool // it has terms for parts of it instead
}

var seed = maphash.MakeSeed()

// read prepares for a text.
func (v *vocabulary) read(language string) {
	v.language, v.analyzer = maphash.String(seed, language), analysis.For(language)
}

// word returns what is known of a word of the text, that is of all letters and
// digits between others.
func (v *vocabulary) word(word string) *knownWord {
	hash := maphash.String(seed, word) ^ v.language
	known := &v.words[hash%knownWords]
	if known.hash != hash {
		*known = knownWord{hash: hash}
		v.analyzer.Each(word, func(o analysis.Occurrence) bool {
			if known.term == "" {
				known.term = o.Term
			} else {
				known.loose = o.Term
			}
			known.parts = known.parts || o.Start > 0 || o.End < len(word) || o.Half < o.End
			return true
		})
	}
	return known
}

// lend returns a vocabulary, which is to be given back.
func (m *Memory) lend() *vocabulary {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := len(m.idle) - 1
	if last < 0 {
		return new(vocabulary)
	}
	v := m.idle[last]
	m.idle = m.idle[:last]
	m.bytes -= vocabularySize
	return v
}

// giveBack keeps a vocabulary for the next.
func (m *Memory) giveBack(v *vocabulary) {
	v.analyzer = nil
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.idle) < maxIdle && vocabularySize <= m.limit/8 {
		m.idle = append(m.idle, v)
		m.bytes += vocabularySize
		m.trim()
	}
}
