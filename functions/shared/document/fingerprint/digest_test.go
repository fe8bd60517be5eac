package fingerprint

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCharacters compares the hash of random texts with that of a simple implementation: Digest.Text must not
// change, because books hold it.
func TestCharacters(t *testing.T) {
	alphabet := []string{"a", "Z", "7", "~", "!", "\x00", "\x7f", "\x80", "é", "言", " ", " ", "\n", "\t", "\r", "\u00a0", "\u3000", "\u0085"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var text []byte
		for range random.IntN(40) {
			text = append(text, alphabet[random.IntN(len(alphabet))]...)
		}
		if got, want := characters(5, text), simpleCharacters(5, text); got != want {
			t.Fatalf("%q has the hash %x, want %x", text, got, want)
		}
	}
}

// simpleCharacters does the same as characters.
func simpleCharacters(hash uint64, text []byte) uint64 {
	for _, word := range bytes.Fields(text) {
		for len(word) >= 8 {
			hash, word = mix(hash, binary.LittleEndian.Uint64(word)), word[8:]
		}
		last := append(slices.Clone(word), make([]byte, 8-len(word))...)
		last[7] = byte(len(word))
		hash = mix(hash, binary.LittleEndian.Uint64(last))
	}
	return hash
}

// TestPieces checks that a text has the same digest, however its lines are divided into pieces.
func TestPieces(t *testing.T) {
	const first, second = "12 people\nwere helped", "on\u00a0Monday 5 p.m."
	whole := DigestOf([]byte("title"), slices.Values([][]byte{[]byte(first + "\n" + second)}))
	if whole.Text == 0 || whole.Words == 0 {
		t.Errorf("digest %+v", whole)
	}
	if pieces := DigestOf([]byte("title"), slices.Values([][]byte{[]byte(first), nil, []byte(second)})); pieces != whole {
		t.Errorf("digest %+v of pieces, want %+v", pieces, whole)
	}
}
