package model

import (
	"sync"
	"unicode"
)

// Script is a writing system. Its number is part of the file format.
type Script uint8

// The scripts. None is for characters that are not letters, and for letters of all other
// scripts.
const (
	None Script = iota
	Latin
	Cyrillic
	Arabic
	Devanagari
	Han
	Kana
	Hangul
	Bopomofo
	Bengali
	Tibetan
	Hebrew
	Myanmar
	Lao
	Thai
	Khmer
	Greek
	Armenian
	Georgian
	Ethiopic
	Gurmukhi
	Gujarati
	Oriya
	Tamil
	Telugu
	Kannada
	Malayalam
	Sinhala
	Scripts // number of scripts, None included
)

// blocks are the blocks of Unicode with letters and marks of each script, in ascending
// order. Other characters in these blocks have the script None.
var blocks = [...]struct {
	from, to rune
	script   Script
}{
	{0x0041, 0x02AF, Latin}, {0x0300, 0x036F, Latin}, {0x0370, 0x03FF, Greek}, {0x0400, 0x052F, Cyrillic},
	{0x0530, 0x058F, Armenian}, {0x0590, 0x05FF, Hebrew}, {0x0600, 0x06FF, Arabic}, {0x0750, 0x077F, Arabic},
	{0x08A0, 0x08FF, Arabic}, {0x0900, 0x097F, Devanagari}, {0x0980, 0x09FF, Bengali}, {0x0A00, 0x0A7F, Gurmukhi},
	{0x0A80, 0x0AFF, Gujarati}, {0x0B00, 0x0B7F, Oriya}, {0x0B80, 0x0BFF, Tamil}, {0x0C00, 0x0C7F, Telugu},
	{0x0C80, 0x0CFF, Kannada}, {0x0D00, 0x0D7F, Malayalam}, {0x0D80, 0x0DFF, Sinhala}, {0x0E00, 0x0E7F, Thai},
	{0x0E80, 0x0EFF, Lao}, {0x0F00, 0x0FFF, Tibetan}, {0x1000, 0x109F, Myanmar}, {0x10A0, 0x10FF, Georgian},
	{0x1100, 0x11FF, Hangul}, {0x1200, 0x139F, Ethiopic}, {0x1780, 0x17FF, Khmer}, {0x1C90, 0x1CBF, Georgian},
	{0x1E00, 0x1EFF, Latin}, {0x1F00, 0x1FFF, Greek}, {0x3040, 0x30FF, Kana}, {0x3100, 0x312F, Bopomofo},
	{0x3130, 0x318F, Hangul}, {0x3400, 0x4DBF, Han}, {0x4E00, 0x9FFF, Han}, {0xA9E0, 0xA9FF, Myanmar},
	{0xAA60, 0xAA7F, Myanmar}, {0xAC00, 0xD7A3, Hangul}, {0xF900, 0xFAFF, Han}, {0xFB50, 0xFDFF, Arabic},
	{0xFE70, 0xFEFC, Arabic}, {0xFF21, 0xFF5A, Latin}, {0xFF66, 0xFF9D, Kana}, {0x20000, 0x323AF, Han},
}

// letter returns the lower case of a letter or mark, and its script. It returns any other
// character unchanged, with None.
func letter(r rune) (rune, Script) {
	low, high := 0, len(blocks)
	for low < high {
		if m := (low + high) / 2; blocks[m].to < r {
			low = m + 1
		} else {
			high = m
		}
	}
	if low == len(blocks) || r < blocks[low].from || !unicode.In(r, unicode.L, unicode.M) {
		return r, None
	}
	return unicode.ToLower(r), blocks[low].script
}

// letters caches the results of the function letter for the code points below 0x2000.
type letters [0x2000]struct {
	small  uint16
	script Script
}

var firstLetters = sync.OnceValue(func() *letters {
	t := new(letters)
	for r := range t {
		small, script := letter(rune(r))
		t[r].small, t[r].script = uint16(small), script
	}
	return t
})

// letter returns the lower case and the script of a character, as the function letter does. It looks
// up code points below 0x2000 in the cache.
func (t *letters) letter(r rune) (rune, Script) {
	switch {
	case uint32(r) < uint32(len(t)):
		return rune(t[r].small), t[r].script
	case r >= 0x4E00 && r <= 0x9FFF:
		return r, Han
	case r >= 0xAC00 && r <= 0xD7A3:
		return r, Hangul
	}
	return letter(r)
}
