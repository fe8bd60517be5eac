package model

// Main returns the main script of a text, and the share of the text's letters that are in this
// script, from 0 to 1. The main script is the most frequent script other than Latin, if it has at
// least a quarter of the letters. Otherwise it is Latin; None if there are no letters. A quarter
// suffices, because texts in any script often have names and terms in Latin letters.
//
// A letter of Han, Kana, Hangul or Bopomofo counts as three. If there is more than one letter of
// Kana for each twelve of Han, the text is Japanese, and its letters of Han count as Kana.
func Main(text string) (script Script, share float64) {
	var counts [Scripts]int
	t := firstLetters()
	for _, r := range text {
		_, s := t.letter(r)
		counts[s]++
	}
	counts[None] = 0
	if counts[Kana]*12 > counts[Han] {
		counts[Kana] += counts[Han]
		counts[Han] = 0
	}
	for _, s := range [...]Script{Han, Kana, Hangul, Bopomofo} {
		counts[s] *= 3
	}
	total := 0
	for s, n := range counts {
		total += n
		if Script(s) != Latin && n > counts[script] {
			script = Script(s)
		}
	}
	if counts[script]*4 < total {
		script = Latin
	}
	if total == 0 {
		return None, 0
	}
	return script, float64(counts[script]) / float64(total)
}
