package model

import "sync"

// Sizes of the cache of words. A text has the same words again and again, and texts of one
// language have the same frequent words. So the cache keeps, for a word, the sum of the
// rows of its features. A hash of the word chooses its place in the cache; a new word
// replaces the word there.
const (
	cacheBits = 12 // the cache has 1<<cacheBits places; each takes 24 bytes and a row
	maxCached = 22 // maximum length of a cached word in bytes
)

type cachedWord struct {
	text     [maxCached]byte
	size     uint8 // length of the word in text, in bytes; 0: the place is empty
	features uint8 // number of the word's features: at most Room for each letter and for the end
}

// wordCache is a cache of words with the sums of their rows, for one goroutine.
type wordCache struct {
	words [1 << cacheBits]cachedWord
	sums  []uint64 // for each word in words, the sum of the rows of its features
}

func newWordCaches(width int) *sync.Pool {
	return &sync.Pool{New: func() any { return &wordCache{sums: make([]uint64, width<<cacheBits)} }}
}

// addWords adds to the sum the rows of all features that the reader r returns, word by word. The
// sums of the rows of known words are taken from a cache of the table c.
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

// sumWord sets sums to the sum of the rows of a word's features, and returns the number of
// features. The parameter features reads the word, which must have at most maxCached bytes.
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

// nextWord returns the next word of the text, as it is written, and the word's hash; "" at the
// end of the text.
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

// of returns a reader of the features of the given word, with the settings of t.
func (t *Reader) of(word string) Reader {
	return Reader{text: word, script: t.script, letters: t.letters, c: end}
}
