package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/mainpart"
)

// judged is a page for training, whose main part was marked by a person.
type judged struct {
	kind     mainpart.Kind
	site     string   // host of the page's address, or the page's number if it has no address
	truth    []string // words of the main part that the person marked
	page     *hypertext.Page
	words    [][]string // words of each block
	labels   []float32  // for each block, the share of its words that belong to the main part
	features mainpart.Features
	second   mainpart.Features // features for the second model: those for the first one, and others from its scores
	whole    []uint8           // features of the page as a whole
}

func load(dir string) ([]*judged, error) {
	file, err := os.Open(filepath.Join(dir, "truth.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	var all []*judged
	for decoder := json.NewDecoder(bufio.NewReader(lines)); ; {
		var row struct {
			ID       string `json:"file_id"`
			Internal struct {
				PageType struct {
					Primary string `json:"primary"`
				} `json:"page_type"`
			} `json:"_internal"`
			URL   string `json:"url"`
			Truth struct {
				Main string `json:"main_content"`
			} `json:"ground_truth"`
		}
		switch err := decoder.Decode(&row); {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("cannot read %s: %w", file.Name(), err)
		}
		markup, err := read(filepath.Join(dir, "pages", row.ID+".html.gz"))
		if err != nil {
			return nil, err
		}
		site := row.ID
		if address, err := url.Parse(row.URL); err == nil && address.Host != "" {
			site = address.Host
		}
		all = append(all, &judged{site: site, kind: mainpart.Kind(row.Internal.PageType.Primary), truth: wordsOf(row.Truth.Main), page: hypertext.Read(markup)})
	}
}

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(content)
}

// wordsOf returns the words of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '_'
	})
}

// f1 returns the F1 of a list of words (got), compared with the right list (want): the harmonic
// mean of precision and recall. The order of the words does not count.
func f1(got, want []string) float64 {
	if len(got) == 0 || len(want) == 0 {
		return 0
	}
	count := make(map[string]int, len(want))
	for _, word := range want {
		count[word]++
	}
	both := 0
	for _, word := range got {
		if count[word] > 0 {
			count[word]--
			both++
		}
	}
	return 2 * float64(both) / float64(len(got)+len(want))
}

// label sets the words and the label of each block of the page. The label is the share of the
// block's words that belong to the main part. To find it, the words of all blocks are aligned with
// the words of the main part that a person marked.
func (p *judged) label() {
	p.words = make([][]string, len(p.page.Blocks))
	p.labels = make([]float32, len(p.page.Blocks))
	numbers := map[string]int32{}
	code := func(words []string) (codes []int32) {
		for _, word := range words {
			if numbers[word] == 0 {
				numbers[word] = int32(len(numbers) + 1)
			}
			codes = append(codes, numbers[word])
		}
		return codes
	}
	var all []int32
	for i, b := range p.page.Blocks {
		p.words[i] = wordsOf(string(p.page.Text[b.Start:b.End]))
		all = append(all, code(p.words[i])...)
	}
	aligned := align(all, code(p.truth))
	for i, words := range p.words {
		for range words {
			if aligned[0] {
				p.labels[i] += 1 / float32(len(words))
			}
			aligned = aligned[1:]
		}
	}
}

// teaches reports whether a page is used for training. A page is used if at least half of the words
// that a person marked as its main part are found in the blocks that were read from its markup.
func (p *judged) teaches() bool {
	hits := 0.0
	for i, words := range p.words {
		hits += float64(p.labels[i]) * float64(len(words))
	}
	return hits > 0 && 2*hits >= float64(len(p.truth))
}

// weights returns the weight of each block of the page in training. It grows with the number of
// words of the block. The weights of the blocks of any page have the same sum, so that all pages
// count alike.
func (p *judged) weights() []float32 {
	truth, sum := max(len(p.truth), 20), float32(0)
	w := make([]float32, len(p.words))
	for i := range w {
		w[i] = float32(min(1, math.Sqrt(float64(len(p.words[i]))/float64(truth))/3))
		sum += w[i]
	}
	for i := range w {
		w[i] *= 3 / max(sum, .01)
	}
	return w
}

// align compares two lists of words. It returns for each word of the first list whether the word
// belongs to the best common subsequence of both lists. A common subsequence has one point for each
// word, and two more for a word that directly follows the word before it in both lists. The best
// one has the most points. If the lists are too long to compare, align returns false for every
// word.
func align(a, b []int32) []bool {
	matched := make([]bool, len(a))
	if len(a)*len(b) == 0 || len(a)*len(b) > 2_000_000_000 {
		return matched
	}
	const none = math.MinInt32 / 2
	const left, match, goesOn = 1, 2, 4
	// best is the best score so far, run the best one that ends with a match.
	width := len(b) + 1
	best, run, oldBest, oldRun := make([]int32, width), make([]int32, width), make([]int32, width), make([]int32, width)
	for j := range oldRun {
		oldRun[j] = none
	}
	trace := make([]uint8, len(a)*len(b))
	for i := range a {
		best[0], run[0] = 0, none
		for j := 1; j < width; j++ {
			step := uint8(0)
			run[j], best[j] = none, oldBest[j]
			if a[i] == b[j-1] {
				run[j] = oldBest[j-1] + 1
				if longer := oldRun[j-1] + 3; longer > run[j] {
					run[j], step = longer, goesOn
				}
			}
			if best[j-1] > best[j] {
				best[j] = best[j-1]
				step |= left
			}
			if run[j] > none/2 && run[j] >= best[j] {
				best[j] = run[j]
				step = step&^left | match
			}
			trace[i*len(b)+j-1] = step
		}
		best, oldBest = oldBest, best
		run, oldRun = oldRun, run
	}
	inRun := false
	for i, j := len(a)-1, len(b)-1; i >= 0 && j >= 0; {
		switch step := trace[i*len(b)+j]; {
		case inRun || step&match != 0:
			matched[i] = true
			inRun = step&goesOn != 0
			i--
			j--
		case step&left != 0:
			j--
		default:
			i--
		}
	}
	return matched
}
