package search

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// Weights are the numbers in the formulas of scores (see the package comment). Searches use the
// weights in the file weights.json, unless WithWeights sets others. The command in
// functions/command/eval/train fits the weights in the file to judged queries.
type Weights struct {
	// Saturation is k1 of BM25F: the larger it is, the more further occurrences of a word add to
	// the score.
	Saturation float64 `json:"saturation"`
	// Repetition is k3 of BM25F: the larger it is, the more repetitions of a word in the query add
	// to the weight of the word.
	Repetition float64 `json:"repetition"`
	// weights of words in the fields of a page, relative to each other
	Title    float64 `json:"title"`
	Headings float64 `json:"headings"`
	Address  float64 `json:"address"`
	Body     float64 `json:"body"`
	// BodyLength and Length are b of BM25F for the body and for the other fields, from 0 to 1: the
	// larger they are, the more the length of the field lowers the score.
	BodyLength float64 `json:"body_length"`
	Length     float64 `json:"length"`
	// factor, at least 1, for the score of a document that holds all words of the query
	AllWords float64 `json:"all_words"`
	Quoted   float64 `json:"quoted"` // weight of a phrase in quotes relative to its words
	// Joined is a factor, at most 1, for the scores of words that a document has only as one joined word. Example:
	// the words e and mail of the query e-mail, or of the query e mail, in a document that has only email.
	Joined float64 `json:"joined"`
	Named  float64 `json:"named"` // factor of the bonus that a start page gets if the query has words of its site's names
	// factor, at most 1, for the score of a word that a page has only outside of its main part
	Outside float64 `json:"outside"`
	Anchors float64 `json:"anchors"` // factor for the scores of words in anchors (texts of links to a page)
	Ordered float64 `json:"ordered"` // weight of the exact phrase of two neighbouring words of the query (see near.go)
	Nearby  float64 `json:"nearby"`  // weight of two neighbouring words of the query near each other, in any order
	Passage float64 `json:"passage"` // weight of the bonus of a page that has many words of the query in one passage (see addPassage)
	Titled  float64 `json:"titled"`  // weight of the bonus of a page whose title the query names (see scan.titled)
	Defined float64 `json:"defined"` // weight of the bonus of a page that defines a name of the query (see scan.defined)
	// weight of the bonus that a match of a long query gets if other good matches are similar to it
	// (see search.support)
	Support float64 `json:"support"`
	// factor, at most 1, for the weight of a stop word such as what or you in a long query
	StopWord float64 `json:"stop_word"`
	Newness  float64 `json:"newness"` // greatest bonus of a new page, relative to its score, if the query asks for new pages
}

//go:embed weights.json
var embedded []byte

// standard holds the weights by which searches score, unless WithWeights sets others.
var standard = func() *Weights {
	w, err := ParseWeights(embedded)
	if err != nil {
		panic(err) // TestWeights reads them
	}
	return &w
}()

// ParseWeights reads weights from JSON. It fails if a weight is missing, unknown, or outside of its
// bounds (see Check).
func ParseWeights(content []byte) (w Weights, err error) {
	var given map[string]float64
	if err := json.Unmarshal(content, &given); err != nil {
		return w, fmt.Errorf("cannot read weights: %w", err)
	}
	all := w.All()
	for name := range given {
		if _, known := all[name]; !known {
			return w, fmt.Errorf("cannot read weights: there is no weight %q", name)
		}
	}
	for name, to := range all {
		value, is := given[name]
		if !is {
			return w, fmt.Errorf("cannot read weights: %s is missing", name)
		}
		*to = value
	}
	return w, w.Check()
}

// All returns pointers to all weights by their names in JSON.
func (w *Weights) All() map[string]*float64 {
	return map[string]*float64{
		"saturation": &w.Saturation, "repetition": &w.Repetition, "title": &w.Title, "headings": &w.Headings,
		"address": &w.Address, "body": &w.Body, "body_length": &w.BodyLength, "length": &w.Length,
		"all_words": &w.AllWords, "quoted": &w.Quoted, "joined": &w.Joined, "named": &w.Named,
		"outside": &w.Outside, "anchors": &w.Anchors, "ordered": &w.Ordered, "nearby": &w.Nearby, "passage": &w.Passage, "support": &w.Support,
		"titled": &w.Titled, "defined": &w.Defined, "stop_word": &w.StopWord, "newness": &w.Newness,
	}
}

// Check returns an error if the formulas of scores do not allow these weights: if a weight is negative
// or not a finite number, if AllWords is below 1, or if Joined, Outside, BodyLength, Length or StopWord
// is above 1.
func (w *Weights) Check() error {
	for name, value := range w.All() {
		if !(*value >= 0) || math.IsInf(*value, 1) {
			return fmt.Errorf("the weight %s is %v, and must not be below 0", name, *value)
		}
	}
	if w.AllWords < 1 || max(w.Joined, w.Outside, w.BodyLength, w.Length, w.StopWord) > 1 {
		return fmt.Errorf("all_words is %v, at least 1; joined, outside, body_length, length, stop_word are %v, %v, %v, %v, %v, at most 1",
			w.AllWords, w.Joined, w.Outside, w.BodyLength, w.Length, w.StopWord)
	}
	return nil
}

// field returns the weight of the field f, and the value of b in BM25F for the length of this
// field.
func (w *Weights) field(f int) (weight, length float64) {
	weight = [postings.Fields]float64{segment.Title: w.Title, segment.Headings: w.Headings, segment.Address: w.Address, segment.Body: w.Body}[f]
	if f == segment.Body {
		return weight, w.BodyLength
	}
	return weight, w.Length
}

// WithWeights returns an index of the same segments whose searches score by other weights.
func (ix *Index) WithWeights(w Weights) *Index {
	other := *ix
	other.weights, other.anchors = &w, newAnchorStatistics(&w)
	return &other
}

// Standard returns the weights of weights.json.
func Standard() Weights { return *standard }
