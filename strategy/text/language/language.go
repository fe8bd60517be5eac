package language

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
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

// onlyLanguage is the language of each script that is used by only one language, or
// nearly so; "" for the other scripts.
var onlyLanguage = [model.Scripts]string{
	model.Kana: "ja", model.Hangul: "ko", model.Bopomofo: "zh", model.Tibetan: "bo", model.Myanmar: "my",
	model.Lao: "lo", model.Thai: "th", model.Khmer: "km", model.Greek: "el", model.Armenian: "hy",
	model.Georgian: "ka", model.Ethiopic: "am", model.Gurmukhi: "pa", model.Gujarati: "gu", model.Oriya: "or",
	model.Tamil: "ta", model.Telugu: "te", model.Kannada: "kn", model.Malayalam: "ml", model.Sinhala: "si",
}

const (
	hintOdds       = 3  // number that is added to the natural log-odds of the language that the page declares
	minProbability = .3 // minimum probability of the likeliest language; below, Identify returns ""
)

// Identify returns the language of a text (an ISO 639-1 code, or ckb) and how sure that
// is, as a probability from 0 to 1. code is "" if the text has no letters, is in an
// unknown language, or leaves too much doubt. hint is the language that the page declares
// (a BCP 47 tag, or ""): it decides in cases of doubt, and has no effect if the language
// is not written in the script of the text. Of a long text only four kilobytes are read.
// Identify is deterministic and safe for concurrent use.
func Identify(text, hint string) (code string, sure float64) {
	text = sample(text)
	script, share := model.Main(text)
	if code := onlyLanguage[script]; code != "" || script == model.None {
		return code, share
	}
	m := load()
	classes := &m.Scripts[script]
	var room, more [64]float64
	odds := classes.Scores(text, room[:0])
	declared := primary(hint)
	best := addHint(odds, classes.Codes, declared)
	for i := range m.Close {
		near := &m.Close[i]
		if !slices.Contains(near.Codes, classes.Codes[best]) {
			continue
		}
		within := near.Scores(text, more[:0])
		top, first := odds[best], addHint(within, near.Codes, declared)
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

// addHint adds hintOdds to the log-odds of the declared language, and returns the index of the
// language with the greatest log-odds. odds[i] are the log-odds of codes[i].
func addHint(odds []float64, codes []string, declared string) (best int) {
	for i, code := range codes {
		if code != "" && code == declared {
			odds[i] += hintOdds
		}
		if odds[i] > odds[best] {
			best = i
		}
	}
	return best
}

// primary returns the code that Identify uses for the language of a BCP 47 tag: "no" for
// nb-NO. For a language that Identify does not know, it is the code in the tag.
func primary(tag string) string {
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	switch tag = strings.ToLower(strings.TrimSpace(tag)); tag {
	case "nb", "nn":
		return "no"
	case "fil":
		return "tl"
	case "bs", "sh":
		return "hr"
	case "in":
		return "id"
	case "iw":
		return "he"
	case "cmn", "yue":
		return "zh"
	}
	return tag
}
