package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/strategy/text/language/internal/model"
)

// TestTrain trains a table for two made-up languages. Texts in a third language must get the class
// without a name.
func TestTrain(t *testing.T) {
	dir := t.TempDir()
	for name, line := range map[string]string{
		"ru": "мамо рамо ламо само",
		"uk": "мімі рірі лілі сісі",
		"xx": "муму руру лулу сусу",
		"en": "words of no interest",
	} {
		content := strings.Repeat(line+"\nLatin\n\n", 20)
		if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	texts, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) != 4 || len(texts[1].lines) != 20 {
		t.Fatalf("read %d texts, %d lines of ru", len(texts), len(texts[1].lines))
	}
	var m model.Model
	m.Scripts[model.Cyrillic] = train(table{model.Cyrillic, 6, nil, nil, []string{"ru", "uk"}}, texts)
	m.Close = []model.Classes{trainClose(family{model.Cyrillic, 6, []string{"ru", "uk"}}, texts)}
	file, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := model.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	for sample, want := range map[string]string{"само мамо": "ru", "рірі": "uk", "лулу муму": ""} {
		classes := got.Scripts[model.Cyrillic]
		if code := classes.Codes[best(classes.Scores(sample, nil))]; code != want {
			t.Errorf("%s is %q, want %q", sample, code, want)
		}
		near := got.Close[0]
		if code := near.Codes[best(near.Scores(sample, nil))]; want != "" && code != want {
			t.Errorf("%s is %q by its words, want %q", sample, code, want)
		}
	}
}

func best(scores []float64) int {
	b := 0
	for i, s := range scores {
		if s > scores[b] {
			b = i
		}
	}
	return b
}
