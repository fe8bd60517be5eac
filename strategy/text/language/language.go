package language

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/strategy/text/language/internal/model"
)

//go:embed weights.bin
var weights []byte

var load = sync.OnceValue(func() *model.Model {
	m, err := model.Decode(weights)
	if err != nil {
		panic(fmt.Sprintf("cannot read the embedded weights: %v", err))
	}
	return m
})

// onlyLanguage has the language of each script that is used by this language alone, or nearly
// alone. It has "" for the other scripts.
var onlyLanguage = [model.Scripts]string{
	model.Kana: "ja", model.Hangul: "ko", model.Bopomofo: "zh", model.Tibetan: "bo", model.Myanmar: "my",
	model.Lao: "lo", model.Thai: "th", model.Khmer: "km", model.Greek: "el", model.Armenian: "hy",
	model.Georgian: "ka", model.Ethiopic: "am", model.Gurmukhi: "pa", model.Gujarati: "gu", model.Oriya: "or",
	model.Tamil: "ta", model.Telugu: "te", model.Kannada: "kn", model.Malayalam: "ml", model.Sinhala: "si",
}

// minProbability is the least probability with which Identify returns a text's likeliest language.
// Below it, Identify returns no language.
const minProbability = .4

// Identify returns the language of a text (an ISO 639-1 code, or ckb) and how sure that
// is, as a probability from 0 to 1. code is "" if the text has no letters, is in an
// unknown language, or leaves too much doubt. Of a long text only four kilobytes are read.
// Identify is deterministic and safe for concurrent use.
func Identify(text string) (code string, sure float64) {
	text = sample(text)
	script, share := model.Main(text)
	if code := onlyLanguage[script]; code != "" || script == model.None {
		return code, share
	}
	m := load()
	classes := &m.Scripts[script]
	var room, more [64]float64
	odds := classes.Scores(text, room[:0])
	best := greatest(odds)
	for i := range m.Close {
		near := &m.Close[i]
		if !slices.Contains(near.Codes, classes.Codes[best]) {
			continue
		}
		within := near.Scores(text, more[:0])
		top, first := odds[best], greatest(within)
		for j, o := range within {
			odds[slices.Index(classes.Codes, near.Codes[j])] = top + o - within[first]
		}
		best = slices.Index(classes.Codes, near.Codes[first])
	}
	sum := 0.
	for _, o := range odds {
		sum += math.Exp(o - odds[best])
	}
	if sum > 1/minProbability {
		return "", 0
	}
	return classes.Codes[best], share / sum
}

// greatest returns the index of the greatest number in the slice.
func greatest(odds []float64) int { return slices.Index(odds, slices.Max(odds)) }
