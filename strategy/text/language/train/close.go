package main

import (
	"math"

	"github.com/bucketsearch/bucketsearch/strategy/text/language/internal/model"
)

// family is a group of languages whose n-grams hardly differ, and which are therefore
// distinguished by whole words.
type family struct {
	script model.Script
	bits   int // the table has 1<<bits rows
	codes  []string
}

var families = []family{
	{model.Latin, 16, []string{"id", "ms"}},
}

// trainClose trains the table of a family (a group of very similar languages) with the texts, by
// naive Bayes, and returns it. The weight of a word in a language is log((n + 0.5) / N). Here n is
// the number of lines of the language that have the word, and N is the sum of n over all words.
func trainClose(f family, texts []text) model.Classes {
	const smooth = .5
	n := len(f.codes)
	weights := make([]float32, n<<f.bits)
	for i, code := range f.codes {
		counts, total := make([]float64, 1<<f.bits), 0.
		for _, t := range texts {
			if t.code != code {
				continue
			}
			for _, line := range t.lines {
				var hashes [256]uint32
				seen := map[uint32]bool{}
				reader := model.NewReader(line, f.script, true)
				for k := reader.Next(hashes[:]); k > 0; k = reader.Next(hashes[:]) {
					for _, h := range hashes[:k] {
						if row := h >> (32 - f.bits); !seen[row] {
							seen[row] = true
							counts[row]++
							total++
						}
					}
				}
			}
		}
		for row, c := range counts {
			weights[row*n+i] = float32(math.Log((c + smooth) / total))
		}
	}
	return quantise(model.Classes{Script: f.script, Words: true, Codes: f.codes, Bits: f.bits}, weights, .5)
}
