// Command measure tells how often package language identifies texts rightly. Its input is a
// directory with a file LANGUAGE.txt for each language, one sentence a line, none of which
// may be among the training texts:
//
//	go run ./strategy/text/language/measure -in DIR
//
// It prints a line for each language, with two groups of figures: first for whole sentences, then
// for pieces of sentences, which may begin and end inside of a word. A group has the share of texts
// that are identified rightly, the number of texts in parentheses, and how often each wrong answer
// was given. The last line has the shares of all texts together, again for sentences and pieces.
// After the word mean, it has the means over the languages, so that each language counts the same.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

// score counts the texts of one language, and those that are identified rightly.
type score struct {
	all, right int
	// the texts for which Identify returned a wrong language: for each wrong code, the number of
	// the texts; the code "" means that Identify returned no language
	wrong map[string]int
}

func main() {
	in := flag.String("in", "", "directory of LANGUAGE.txt")
	size := flag.Int("size", 20, "characters of a piece")
	verbose := flag.Bool("v", false, "print every text that is identified wrongly")
	flag.Parse()
	files, err := filepath.Glob(filepath.Join(*in, "*.txt"))
	if err != nil {
		log.Fatal(err)
	}
	if len(files) == 0 {
		log.Fatalf("cannot measure: %q has no file LANGUAGE.txt", *in)
	}
	var sums [2]score
	var means [2]float64
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			log.Fatal(err)
		}
		code := strings.TrimSuffix(filepath.Base(f), ".txt")
		line := code
		var sentences []string
		for s := range strings.Lines(string(content)) {
			if s = strings.TrimSpace(s); s != "" {
				sentences = append(sentences, s)
			}
		}
		for i, texts := range [][]string{sentences, pieces(sentences, *size)} {
			var s score
			s.wrong = map[string]int{}
			for _, text := range texts {
				got, sure := language.Identify(text)
				s.all++
				if got == code {
					s.right++
					continue
				}
				s.wrong[got]++
				if *verbose {
					fmt.Printf("%s taken for %q (%.2f): %s\n", code, got, sure, text)
				}
			}
			line += fmt.Sprintf("  %s %v", share(s), s.wrong)
			sums[i].all, sums[i].right = sums[i].all+s.all, sums[i].right+s.right
			means[i] += float64(s.right) / float64(max(1, s.all)) / float64(len(files))
		}
		fmt.Println(line)
	}
	fmt.Printf("all %s %s mean %.4f %.4f\n", share(sums[0]), share(sums[1]), means[0], means[1])
}

func share(s score) string {
	return fmt.Sprintf("%.3f (%d)", float64(s.right)/float64(max(1, s.all)), s.all)
}

// pieces cuts sentences into pieces of the given number of characters. A shorter rest at the end of
// a sentence is dropped.
func pieces(sentences []string, size int) (all []string) {
	for _, s := range sentences {
		for piece := range slices.Chunk([]rune(s), size) {
			if len(piece) == size {
				all = append(all, string(piece))
			}
		}
	}
	return all
}
