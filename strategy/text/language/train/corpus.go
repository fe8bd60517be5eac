package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/strategy/text/language/internal/model"
)

// text is the training text of one language.
type text struct {
	code   string
	script model.Script
	lines  []string
}

// read returns the texts in the files LANGUAGE.txt of a directory, sorted by name. It
// leaves out lines in another script than the main script of their text.
func read(dir string) ([]text, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var texts []text
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		t := text{code: strings.TrimSuffix(filepath.Base(f), ".txt")}
		t.script, _ = model.Main(string(content))
		for line := range strings.Lines(string(content)) {
			line = strings.TrimSpace(line)
			if s, _ := model.Main(line); s == t.script {
				t.lines = append(t.lines, line)
			}
		}
		if t.script == model.Kana {
			t.script = model.Han // the table of Han distinguishes zh and ja
		}
		if len(t.lines) > 0 {
			texts = append(texts, t)
		}
	}
	return texts, nil
}

// snippet returns a random text about as long as a heading or a sentence. It draws lines at
// random, and joins or cuts them.
func snippet(rng *rand.Rand, lines []string, script model.Script) string {
	want := 10 + rng.IntN(110)
	if script == model.Han {
		want = 4 + rng.IntN(40)
	}
	var b strings.Builder
	for have := 0; have < want; {
		line := lines[rng.IntN(len(lines))]
		n := utf8.RuneCountInString(line)
		if n > 2*want {
			line, n = piece(rng, line, want), want
		}
		b.WriteString(line)
		b.WriteByte(' ')
		have += max(n, 1)
	}
	return b.String()
}

// piece returns a piece of a line with the wanted number of characters. The line must be longer
// than that. piece chooses a place at random. The piece begins with the first word that begins
// there or later. If the rest of the line from this word on is too short, the piece begins at the
// place itself.
func piece(rng *rand.Rand, line string, want int) string {
	letters := []rune(line)
	at := rng.IntN(len(letters) - want)
	for i := at; i > 0 && i < len(letters)-want; i++ {
		if letters[i-1] == ' ' {
			at = i
			break
		}
	}
	return string(letters[at : at+want])
}
