// Package fingerprint recognizes equal and nearly equal texts by a few numbers.
package fingerprint

import (
	"encoding/binary"
	"math/bits"
)

// Fingerprint serves to recognize equal and nearly equal content without its text. It
// is made of words alone: letters of either case are the same, and what stands
// between words does not count. It depends on no language.
type Fingerprint struct {
	TitleHash uint64
	TextHash  uint64 // of the body's words in order

	// Simhash of the body's shingles (Manku, Jain, Das Sarma 2007): 10 bits
	// or fewer differ where 3 % of the words do, about 32 between texts that
	// have nothing in common.
	Simhash uint64

	// Sketch holds low bits of the least hash of the body's shingles in 16
	// classes (one permutation hashing, Li, Owen, Zhang 2012; 16-bit minwise
	// hashing, Li, König 2010): the share of equal members estimates the share
	// of shingles in common, among those of either text.
	Sketch [16]uint16
}

// shingle is how many neighbouring words, or letters of a script that sets no
// spaces, make one feature.
const shingle = 3

// Of returns the fingerprint of a page's title and body; its parts are 0 where there
// are no words.
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

// Bounds of what is alike: of an edit of 3 % of the words, half are within.
const (
	alikeBits  = 10 // of the simhash may differ
	alikeParts = 10 // of the sketch are equal at least
)

// IsAlike reports whether two texts are the same but for a few words. Those
// without words are not.
func (f Fingerprint) IsAlike(other Fingerprint) bool {
	if f.TextHash == other.TextHash {
		return f.TextHash != 0
	}
	return f.common(other) >= alikeParts && bits.OnesCount64(f.Simhash^other.Simhash) <= alikeBits
}

// SharesHalf reports whether about half of the shingles in either text are in both, as in
// copies, translations of a part, and pages that say nothing but what their site repeats.
func (f Fingerprint) SharesHalf(other Fingerprint) bool {
	return f.common(other) >= len(f.Sketch)/2
}

// common returns how many parts of the sketches are equal.
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

// Exact returns the hash of a text, to the letter, and of a number that tells where it
// stands.
func Exact(place uint64, text []byte) uint64 {
	hash := mix(place, uint64(len(text)))
	for ; len(text) >= 8; text = text[8:] {
		hash = mix(hash, binary.LittleEndian.Uint64(text))
	}
	var last [8]byte
	copy(last[:], text)
	return mix(hash, binary.LittleEndian.Uint64(last[:]))
}

// mix is the folded multiplication of wyhash.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x2D358DCCAA6C78A5, b^0x8BB84B93962EACC9)
	return high ^ low
}

// sketcher gathers hashes of shingles.
type sketcher struct {
	lanes  [8]uint64 // of each bit of the hashes, in bytes: how many since the last spill had it
	counts [64]int   // as long as they were spilled
	since  int       // hashes since then
	total  int
	least  [16]uint64 // complements of the least hashes, so that 0 is none
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

// spread moves the eight bits of a byte to the lowest of eight bytes.
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

// sketch fills a class without shingles from the next that has some
// (Shrivastava, Li 2014).
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
