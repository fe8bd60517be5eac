package analysis

import (
	"unicode"
	"unicode/utf8"
)

// clusterEnd returns the end of the cluster that starts at offset i. A cluster is what readers of
// the script see as one character: no word can begin or end within it. It is a letter with its
// marks. In these scripts it also has
//
//	Thai, Lao         the vowels written before and after the consonant
//	Khmer, Burmese    consonants stacked by a virama
//	Burmese           the final consonants of the syllable
//	Tibetan           the syllable, up to its tsheg
//
// The end of a cluster does not depend on the text around the cluster. So if a text is cut between
// two clusters, its parts have the same clusters as the whole text.
func clusterEnd(text string, i int) int {
	first, width := utf8.DecodeRuneInString(text[i:])
	end := skip(text, i+width, mark)
	if isPlain(first) {
		return end
	}
	if isLeadingVowel(first) {
		if r, width := utf8.DecodeRuneInString(text[end:]); isThaiLao(r) && !isLeadingVowel(r) && !isTrailingVowel(r) {
			end = skip(text, end+width, mark)
		}
	}
	for end < len(text) {
		r, width := utf8.DecodeRuneInString(text[end:])
		if !joinsCluster(text, first, r, end, end+width) {
			break
		}
		end = skip(text, end+width, mark)
	}
	return end
}

// joinsCluster reports whether a letter belongs to the same cluster as the text before it. A
// cluster is what readers of the script see as one character (see clusterEnd). The letter is r, at
// text[i:end]. The parameter first is the letter with which the cluster begins.
func joinsCluster(text string, first, r rune, i, end int) bool {
	switch {
	case isThaiLao(first):
		return isTrailingVowel(r)
	case unicode.Is(unicode.Tibetan, first):
		return unicode.Is(unicode.Tibetan, r) && classOf(r) == unspaced
	case unicode.Is(unicode.Khmer, first):
		last, _ := utf8.DecodeLastRuneInString(text[:i])
		return last == khmerVirama && unicode.Is(unicode.Khmer, r) && classOf(r) == unspaced
	case unicode.Is(unicode.Myanmar, first):
		last, _ := utf8.DecodeLastRuneInString(text[:i])
		return unicode.Is(unicode.Myanmar, r) && classOf(r) == unspaced && (last == burmeseVirama || isFinal(text[end:]))
	}
	return false
}

const (
	khmerVirama   = '\u17D2'
	burmeseVirama = '\u1039'
	burmeseAsat   = '\u103A' // sign that silences the vowel of a final consonant
	burmeseDot    = '\u1037' // sign of a tone, which may come before the asat
)

// isFinal reports whether a Burmese consonant ends its syllable. rest is the text after
// the consonant.
func isFinal(rest string) bool {
	r, width := utf8.DecodeRuneInString(rest)
	if r == burmeseDot {
		r, _ = utf8.DecodeRuneInString(rest[width:])
	}
	return r == burmeseAsat || r == burmeseVirama
}

func isThaiLao(r rune) bool { return 0x0E00 < r && r < 0x0F00 }

// isLeadingVowel reports whether r is a Thai or Lao vowel that is written before its
// consonant.
func isLeadingVowel(r rune) bool { return 0x0E40 <= r && r <= 0x0E44 || 0x0EC0 <= r && r <= 0x0EC4 }

// isTrailingVowel reports whether r is a Thai or Lao vowel that is written after its
// consonant, or the sign that lengthens such a vowel.
func isTrailingVowel(r rune) bool {
	switch r {
	case 0x0E30, 0x0E32, 0x0E33, 0x0E45, 0x0EB0, 0x0EB2, 0x0EB3, 0x0EBD:
		return true
	}
	return false
}
