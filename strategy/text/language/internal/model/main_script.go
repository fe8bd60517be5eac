package model

// Main returns the script that a text is written in, None if it has no
// letters, and which share of the letters is of it. Names and terms are often
// left in Latin letters, so another script needs only a quarter; a letter of
// Han, Kana or Hangul counts as three, and where Kana stands, Han is Japanese.
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
