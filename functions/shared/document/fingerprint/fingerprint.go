// Package fingerprint recognizes equal and nearly equal texts by a few numbers.
package fingerprint

import (
	"encoding/binary"
	"math/bits"
)

// Fingerprint is a few numbers by which pages with equal or nearly equal text are recognized
// without the text. Only words count: case, punctuation and white space do not. The rules are the
// same for all languages.
type Fingerprint struct {
	TitleHash uint64
	TextHash  uint64 // hash of the body's words in the order of the body

	// Simhash of the body's shingles, runs of three words (Manku, Jain, Das Sarma 2007). The
	// simhashes of two texts differ in at most 10 bits if 3 % of the words differ, and in about
	// 32 bits if the texts have nothing in common.
	Simhash uint64

	// Sketch divides the hashes of the body's shingles, runs of three words, into 16 classes,
	// and holds 16 bits of the least hash of each class (one permutation hashing, Li, Owen,
	// Zhang 2012; b-bit minwise hashing, Li, König 2010). The share of equal elements in the
	// sketches of two texts estimates their Jaccard similarity: common shingles divided by
	// all shingles of both.
	Sketch [16]uint16
}

// shingle is the number of words in a shingle, which is a run of neighbouring words. In scripts
// without spaces between words, each letter counts as a word.
const shingle = 3

// Of returns the fingerprint of a page's title and body. Without words in the title, TitleHash is
// 0; without words in the body, all other fields are 0.
func Of(title, body string) Fingerprint {
	f := Fingerprint{TitleHash: sequence(title)}
	var s sketcher
	var window [shingle]uint64
	words := 0
	for word := range wordHashes(body) {
		copy(window[:], window[1:])
		window[shingle-1] = word
		f.TextHash = mix(f.TextHash, word)
		if words++; words >= shingle {
			s.add(mix(mix(window[0], window[1]), window[2]))
		}
	}
	if 0 < words && words < shingle {
		s.add(f.TextHash)
	}
	f.Simhash, f.Sketch = s.simhash(), s.sketch()
	return f
}

// Bounds for IsAlike. Of the pairs of texts that differ in 3 % of the words, half are
// within both bounds.
const (
	alikeBits  = 10 // greatest number of bits in which the simhashes of two alike texts may differ
	alikeParts = 10 // least number of elements, of 16, that must be equal in the sketches of two alike texts
)

// IsAlike reports whether two texts are the same but for a few words. Texts without words
// are not alike.
func (f Fingerprint) IsAlike(other Fingerprint) bool {
	if f.TextHash == other.TextHash {
		return f.TextHash != 0
	}
	return f.common(other) >= alikeParts && bits.OnesCount64(f.Simhash^other.Simhash) <= alikeBits
}

// SharesHalf reports whether two texts have about half of their shingles (runs of three words) in
// common, or more. Examples are copies, partly translated pages, and pages that have little text
// besides what their site repeats on all pages.
func (f Fingerprint) SharesHalf(other Fingerprint) bool {
	return f.common(other) >= len(f.Sketch)/2
}

// common returns how many of the 16 elements are equal in the two sketches.
func (f Fingerprint) common(other Fingerprint) (parts int) {
	for i := range f.Sketch {
		if f.Sketch[i] == other.Sketch[i] {
			parts++
		}
	}
	return parts
}

func sequence(text string) (hash uint64) {
	for word := range wordHashes(text) {
		hash = mix(hash, word)
	}
	return hash
}

// Exact returns a hash of all bytes of a text and of a number that stands for the text's position in
// its page.
func Exact(place uint64, text []byte) uint64 {
	hash := mix(place, uint64(len(text)))
	for ; len(text) >= 8; text = text[8:] {
		hash = mix(hash, binary.LittleEndian.Uint64(text))
	}
	var last [8]byte
	copy(last[:], text)
	return mix(hash, binary.LittleEndian.Uint64(last[:]))
}

// mix mixes two numbers into a hash as wyhash does: it multiplies them and returns the upper half
// of the product XOR the lower half.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x2D358DCCAA6C78A5, b^0x8BB84B93962EACC9)
	return high ^ low
}

// sketcher computes the simhash and the sketch of a text from the hashes of its shingles, which are
// runs of three words.
type sketcher struct {
	counts [64]int // for each of the 64 bits, the number of hashes in which the bit is set
	// 64 counters of one byte, eight in each uint64. Counter i counts the hashes in which bit i is
	// set. Before a counter can overflow, all are added to the field counts and reset to 0.
	lanes [8]uint64
	since int // number of hashes added to lanes since their last reset; at most 255, so that no byte overflows
	total int // number of all hashes
	// least hash in each of the 16 classes of hashes. The upper four bits of a hash are its class.
	// A hash h is stored as ^(h<<4), so that the least hash gives the greatest number. 0: no hash
	least [16]uint64
}

func (s *sketcher) add(hash uint64) {
	for i := range s.lanes {
		s.lanes[i] += spread[hash>>(8*i)&0xFF]
	}
	s.total++
	if s.since++; s.since == 0xFF {
		s.spill()
	}
	class := &s.least[hash>>60]
	*class = max(*class, ^(hash << 4))
}

// spread maps a byte to a number of eight bytes. Byte i of the number is 1 if bit i of the mapped
// byte is set, else 0: for example, 5 (binary 101) becomes 0x010001. If such numbers are added, byte
// i of the sum counts how often bit i was set.
var spread = func() (table [256]uint64) {
	for b := range table {
		for bit := range 8 {
			table[b] |= uint64(b>>bit&1) << (8 * bit)
		}
	}
	return table
}()

func (s *sketcher) spill() {
	for i := range s.counts {
		s.counts[i] += int(s.lanes[i/8] >> (i % 8 * 8) & 0xFF)
	}
	s.lanes, s.since = [8]uint64{}, 0
}

func (s *sketcher) simhash() (hash uint64) {
	s.spill()
	for i, n := range s.counts {
		if 2*n > s.total {
			hash |= 1 << i
		}
	}
	return hash
}

// sketch returns Fingerprint.Sketch. The upper four bits of a hash are its class, so that there are
// 16 classes. The sketch has one number for each class, made of the least hash in the class. If a
// class has no hash, its number is made of two things: the least hash of the next class that has
// one, and the distance to that class (Shrivastava, Li 2014).
func (s *sketcher) sketch() (sketch [16]uint16) {
	if s.total == 0 {
		return sketch
	}
	for i := range sketch {
		from := i
		for s.least[from%16] == 0 {
			from++
		}
		sketch[i] = uint16(mix(s.least[from%16], uint64(from-i)))
	}
	return sketch
}
