package model

import "sync"

// A text has the same words again and again, and texts of one language have the same
// frequent words. So the sums of the weights of a word's features are cached: the cache
// has one place for each hash of a word, which the last word with this hash takes.
const (
	cacheBits = 12 // 1<<cacheBits places, each of 24 bytes and a row
	maxCached = 22 // bytes of a cached word
)

type cachedWord struct {
	text     [maxCached]byte
	size     uint8 // length of text; 0: there is no word
	features uint8 // at most Room for each letter, and as many for the word's end
}

// wordCache is a cache of one goroutine.
type wordCache struct {
	words [1 << cacheBits]cachedWord
	sums  []uint64 // a row for each of words, which sums the rows of the features
}

func newWordCaches(width int) *sync.Pool {
	return &sync.Pool{New: func() any { return &wordCache{sums: make([]uint64, width<<cacheBits)} }}
}

// addWords adds the rows of all features of the reader, word by word.
func (s *sum) addWords(c *Classes, r Reader) {
	cache := c.caches.Get().(*wordCache)
	defer c.caches.Put(cache)
	for word, hash := r.nextWord(); word != ""; word, hash = r.nextWord() {
		if len(word) > maxCached {
			s.addFeatures(c, r.of(word))
			continue
		}
		i := int(hash >> (32 - cacheBits))
		w, sums := &cache.words[i], cache.sums[i*c.width:][:c.width]
		if string(w.text[:w.size]) != word {
			w.size = uint8(copy(w.text[:], word))
			w.features = c.sumWord(sums, r.of(word))
		}
		s.add(sums, int(w.features))
	}
}

// sumWord sums the rows of the features of a word of at most maxCached bytes. It returns
// the number of features.
func (c *Classes) sumWord(sums []uint64, features Reader) uint8 {
	clear(sums)
	var hashes [Room * (maxCached + 1)]uint32
	n := features.Next(hashes[:])
	for _, h := range hashes[:n] {
		for i, weights := range c.row(h) {
			sums[i] += weights
		}
	}
	return uint8(n)
}

// nextWord returns the next word as it is written, and a hash of it; "" at the end of the
// text.
func (t *Reader) nextWord() (word string, hash uint32) {
	for before := t.text; before != ""; before = t.text {
		if t.letter() == end {
			continue
		}
		rest := t.text
		for t.letter() != end {
			rest = t.text
		}
		word = before[:len(before)-len(rest)]
		for i := range len(word) {
			hash = (hash ^ uint32(word[i])) * prime
		}
		return word, hash
	}
	return "", 0
}

// of returns a reader of a word of the text.
func (t *Reader) of(word string) Reader {
	return Reader{text: word, script: t.script, letters: t.letters, c: end}
}
