package model

// Main returns the main script of a text, or None if it has no letters, and the share of
// letters in this script, from 0 to 1. A script other than Latin is the main one if it
// has a quarter of the letters, because texts often have names and terms in Latin
// letters. A letter of Han, Kana, Hangul or Bopomofo counts as three. Han counts as Kana
// if there is more than one letter of Kana for each twelve of Han: then the text is
// Japanese.
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
