package model

import "sync"

// Sizes of the cache of words. Each feature of a word, such as an n-gram, has a row of weights, and
// the rows of all its features are added up. Because the same words occur again and again, the cache
// keeps the sum for each word. A hash of the word chooses its place in the cache; a new word
// replaces the word there.
const (
	cacheBits = 12 // the cache has 1<<cacheBits places; each holds a word (24 bytes) and a sum of rows
	maxCached = 22 // maximum length of a cached word in bytes
)

type cachedWord struct {
	text     [maxCached]byte
	size     uint8 // length of the word in bytes; 0: this place of the cache is empty
	features uint8 // number of the word's features, at most Room*(maxCached+1)
}

// wordCache holds, for words that were read before, the sum of the weights of each word's features,
// so that it need not be computed again. Only one goroutine at a time may use it.
type wordCache struct {
	words [1 << cacheBits]cachedWord
	// sums of rows of weights, one sum for each element of the field words, in the same order: the
	// sum of the rows of the word's features
	sums []uint64
}

func newWordCaches(width int) *sync.Pool {
	return &sync.Pool{New: func() any { return &wordCache{sums: make([]uint64, width<<cacheBits)} }}
}

// addWords adds to the sum s the rows of all features that the reader r returns. It goes through
// the text word by word, and adds one sum for each word: that of the rows of the word's features.
// It takes this sum from a cache if the word was read before.
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

// sumWord computes the sum of the table's rows for the features of one word. It writes the sum into
// sums, and returns the number of features. The parameter features is a reader of the word, which
// must have at most maxCached bytes.
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
