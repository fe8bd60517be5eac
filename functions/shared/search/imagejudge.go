package search

import (
	"fmt"
	"math"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// The texts by which an image is scored: its own texts, and the title of its page.
const (
	altText = iota
	captionText
	nameText
	aroundText
	pageText
	imageTexts
)

var (
	imageTextNames = [imageTexts]string{"alternative text", "caption", "file name", "words around", "title of the page"}
	// imageTextWeights are the weights of the texts of an image. Each occurrence of a word in a text
	// counts weight / (1 − b + b·L/M). L is the number of words of the text, M is the usual number for
	// such a text (see imageTextLengths), and b is Weights.Length.
	imageTextWeights = [imageTexts]float64{2, 2, 1.5, 0.5, 0.5}
	imageTextLengths = [imageTexts]float64{6, 10, 3, 30, 6}
)

// imageJudge scores the images of the pages that match a query.
type imageJudge struct {
	*search
	// all words of the query: first plan.words, then the words of required phrases, then the excluded
	// words, then the words of excluded phrases. imageJudge.excludes needs this order.
	words  []*queryWord
	wanted int // number of words in plan.words
	// worth has, for each term, the words of the query for which it stands, each with the factor by which
	// the term counts in the word's score. For example, worth["fox"][2] is the factor of the term fox for
	// imageJudge.words[2].
	worth     map[string]map[int]float64
	analyzers map[string]*analysis.Analyzer // analyzers by language, each made once
	analyzer  *analysis.Analyzer            // analyzer for the language of the current page
	// occurrences of each word of the query in the title of the current page
	page []imageWords
	// occurrences of each word of the query in the texts of the current image
	here []imageWords
}

// imageWords holds the occurrences of one word in the texts of an image.
type imageWords struct {
	positions [imageTexts][]uint32
	frequency [imageTexts]float64 // frequency of the word in each text, times the weight of the text (see read)
}

func (w *imageWords) reset() {
	for text := range w.positions {
		w.positions[text], w.frequency[text] = w.positions[text][:0], 0
	}
}

func newImageJudge(s *search) *imageJudge {
	j := &imageJudge{search: s, worth: make(map[string]map[int]float64), analyzers: make(map[string]*analysis.Analyzer)}
	j.words = append(j.words, s.plan.words...)
	j.wanted = len(j.words)
	for _, ph := range s.plan.must {
		j.words = append(j.words, ph.words...)
	}
	j.words = append(j.words, s.plan.image.not...)
	for _, ph := range s.plan.image.never {
		j.words = append(j.words, ph.words...)
	}
	for n, w := range j.words {
		for _, v := range w.variants {
			term, _ := segment.CutImageTerm(v.term)
			if j.worth[term] == nil {
				j.worth[term] = make(map[int]float64)
			}
			j.worth[term][n] = max(j.worth[term][n], v.worth)
		}
	}
	j.page, j.here = make([]imageWords, len(j.words)), make([]imageWords, len(j.words))
	return j
}

// open makes a page the current one. The next calls of score and explain judge images of this page.
func (j *imageJudge) open(d *segment.Document) {
	if j.analyzer = j.analyzers[d.Lang]; j.analyzer == nil {
		j.analyzer = analysis.For(d.Lang)
		j.analyzers[d.Lang] = j.analyzer
	}
	for n := range j.page {
		j.page[n].reset()
	}
	j.read(j.page, pageText, d.Title)
}

// read looks for the query's words in content, which is a text of an image or the title of its page. It
// records their positions and weighted frequencies in the slice words. The parameter text says which text
// it is, by one of the constants such as captionText and pageText.
func (j *imageJudge) read(words []imageWords, text int, content string) {
	length := j.analyzer.Each(content, func(o analysis.Occurrence) bool {
		j.add(words, text, o.Position, j.worth[o.Term])
		if len(j.worth[o.Term]) == 0 {
			j.add(words, text, o.Position, j.worth[o.First])
		}
		return true
	})
	b := j.plan.weights.Length
	gain := imageTextWeights[text] / (1 - b + b*float64(length)/imageTextLengths[text])
	for n := range words {
		words[n].frequency[text] *= gain
	}
}

// add records that a term occurs at a position of one of the texts by which an image is scored. The
// argument text is the index of this text, such as captionText. The term may stand for several words of
// the query. For each of them, the map worth has an entry: the index of the word in the slice words, and
// the factor by which the term counts in the word's score.
func (j *imageJudge) add(words []imageWords, text, position int, worth map[int]float64) {
	for n, of := range worth {
		words[n].positions[text] = append(words[n].positions[text], uint32(position))
		words[n].frequency[text] += of
	}
}

// score returns the score of an image on the current page (see open): BM25F over the texts of the
// image and the title of the page. It returns 0 if the image does not match. An image matches if
// its own texts have at least one of the words, all required ones, and nothing that is excluded.
func (j *imageJudge) score(image *segment.Image) float64 {
	for n := range j.here {
		j.here[n].reset()
		j.here[n].frequency[pageText] = j.page[n].frequency[pageText]
	}
	for text, content := range [pageText]string{altText: image.Alt, captionText: image.Caption, nameText: image.NameWords(), aroundText: image.Around} {
		j.read(j.here, text, content)
	}
	if j.excludes() {
		return 0
	}
	score, matched, all := 0.0, false, j.plan.written() > 1
	for n, w := range j.words[:j.wanted] {
		own := j.here[n].stands()
		if w.required && !own {
			return 0
		}
		matched = matched || own
		frequency := j.here[n].sum()
		all = all && (frequency > 0 || w.isOptional())
		score += w.weight * j.plan.weights.saturated(frequency)
	}
	if !matched {
		return 0
	}
	if all {
		score *= j.plan.weights.AllWords
	}
	return max(score, math.SmallestNonzeroFloat64)
}

// explain explains the score of an image on the current page (see open).
func (j *imageJudge) explain(image *segment.Image) *Explanation {
	root := Explanation{What: "image", Value: j.score(image)}
	held := 0
	for n, w := range j.words[:j.wanted] {
		of := Explanation{What: fmt.Sprintf("word %q, idf %.4g", w.text, w.idf)}
		frequency := j.here[n].sum()
		for text, f := range j.here[n].frequency {
			if f > 0 {
				of.add(Explanation{What: "in the " + imageTextNames[text], Value: w.weight * j.plan.weights.saturated(frequency) * f / frequency})
			}
		}
		if of.Value > 0 {
			root.Parts = append(root.Parts, of)
			if !w.isOptional() {
				held++
			}
		}
	}
	if held > 1 && held == j.plan.written() {
		words := root
		words.What = fmt.Sprintf("has all words: × %g", j.plan.weights.AllWords)
		root.Parts = []Explanation{words}
	}
	return &root
}

func (w *imageWords) sum() (sum float64) {
	for _, f := range w.frequency {
		sum += f
	}
	return sum
}

// stands reports whether the word occurs in one of the image's own texts: its alternative text,
// caption, file name, or the words around it. The title of the page does not count.
func (w *imageWords) stands() bool {
	return slices.ContainsFunc(w.positions[:pageText], func(positions []uint32) bool { return len(positions) > 0 })
}

// excludes reports whether the image lacks a required phrase, or has an excluded word or phrase.
func (j *imageJudge) excludes() bool {
	next := j.here[j.wanted:] // words of phrases and exclusions, in the order in which newImageJudge adds them
	has := func(ph *queryPhrase) bool {
		words := next[:len(ph.words)]
		next = next[len(ph.words):]
		for text := range pageText {
			positions := make([][]uint32, len(words))
			whole := true
			for i := range words {
				positions[i] = words[i].positions[text]
				whole = whole && len(positions[i]) > 0
			}
			if n := 0; whole {
				if n, _ = adjacent(positions, ph.at, ph.slop, nil); n > 0 {
					return true
				}
			}
		}
		return false
	}
	for _, ph := range j.plan.must {
		if !has(ph) {
			return true
		}
	}
	for range j.plan.image.not {
		if next[0].stands() {
			return true
		}
		next = next[1:]
	}
	return slices.ContainsFunc(j.plan.image.never, has)
}
