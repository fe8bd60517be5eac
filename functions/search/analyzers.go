package search

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/analysis"
)

const (
	// maxIdle is how many analyzers, of all languages, wait for the next use.
	maxIdle = 4
	// maxWords bounds the bytes of the words that one of them remembers.
	maxWords = 1 << 20
	// wordSize is about what an analyzer takes to remember a word.
	wordSize = 256
)

// analyzer is an analysis.Analyzer and how many words it may remember.
type analyzer struct {
	*analysis.Analyzer
	language string
	words    int64
}

func (a *analyzer) bytes() int64 { return wordSize * a.words }

// lend returns an analyzer of a language, which is to be given back.
func (m *Memory) lend(language string) *analyzer {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, a := range m.idle {
		if a.language == language {
			m.idle = slices.Delete(m.idle, i, i+1)
			m.bytes -= a.bytes()
			return a
		}
	}
	return &analyzer{Analyzer: analysis.For(language), language: language}
}

// giveBack keeps an analyzer for the next, in place of the one that has waited
// longest.
func (m *Memory) giveBack(a *analyzer) {
	if a.bytes() > min(maxWords, m.limit/8) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.idle) == maxIdle {
		m.bytes -= m.idle[0].bytes()
		m.idle = slices.Delete(m.idle, 0, 1)
	}
	m.idle = append(m.idle, a)
	m.bytes += a.bytes()
	m.trim()
}
