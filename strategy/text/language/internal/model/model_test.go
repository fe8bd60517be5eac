package model

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hashes returns the hashes of all features of a text. It calls Next with a very short slice, so that
// it takes many calls to read the text.
func hashes(text string, script Script, words bool) (all []uint32) {
	var few [Room + 1]uint32
	r := NewReader(text, script, words)
	for n := r.Next(few[:]); n > 0; n = r.Next(few[:]) {
		all = append(all, few[:n]...)
	}
	return all
}

func TestReader(t *testing.T) {
	tests := map[string]struct {
		text, same string
		script     Script
		words      bool
		want       int
	}{
		// a, ^a, b, ab, ^ab, b$, ab$, ^ab$, the word
		"runs":          {"ab", "ab", Latin, false, 9},
		"capitals":      {"AB", "ab", Latin, false, 9},
		"signs":         {" «ab» 12!", "ab", Latin, false, 9},
		"other letters": {"ж ab 木", "ab", Latin, false, 9},
		"not UTF-8":     {"\xffab\xc3", "ab", Latin, false, 9},
		"accents":       {"u\u0308", "ü", Latin, false, 5},
		"words":         {"ab ab abcdefgh", "AB, ab; abcdefgh.", Latin, true, 3},
		"Han":           {"国家", "国家 ", Han, false, 5},
		"nothing":       {"123", "", Latin, false, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := hashes(test.text, test.script, test.words)
			if len(got) != test.want {
				t.Errorf("%q has %d features, want %d", test.text, len(got), test.want)
			}
			if diff := cmp.Diff(hashes(test.same, test.script, test.words), got); diff != "" {
				t.Errorf("%q differs from %q: %s", test.text, test.same, diff)
			}
		})
	}
}

func TestMainScript(t *testing.T) {
	tests := map[string]struct {
		text  string
		want  Script
		share float64
	}{
		"none":        {"12 + 3 = 15 😀", None, 0},
		"Latin":       {"Größe", Latin, 1},
		"full width":  {"ＡＢＣ", Latin, 1},
		"a quarter":   {"мир is peace", Cyrillic, 3. / 10},
		"less":        {"мир is the word for peace", Latin, 17. / 20},
		"Han":         {"用 apt", Han, .5},
		"Kana":        {"東京へ行く", Kana, 1},
		"little Kana": {strings.Repeat("国", 13) + "の", Han, 13. / 14},
		"halfwidth":   {"ﾃｽﾄ", Kana, 1},
		"Hangul":      {"서울 漢", Hangul, 2. / 3},
		"rare Han":    {"\U00020000", Han, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, share := Main(test.text)
			if got != test.want || share != test.share {
				t.Errorf("Main(%q) = %d, %v; want %d, %v", test.text, got, share, test.want, test.share)
			}
		})
	}
}

// random returns classes with random weights.
func random(rng *rand.Rand, codes []string, bits int, words bool) Classes {
	c := Classes{Script: Latin, Words: words, Codes: codes, Bits: bits, Scale: .5, Weights: make([]int8, len(codes)<<bits)}
	for i := range c.Weights {
		c.Weights[i] = int8(rng.IntN(255) - 127)
	}
	return c
}

// TestScores compares Scores, which adds four weights at a time, with sums of single weights.
func TestScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= maxClasses; n += 3 {
		c := random(rng, make([]string, n), 6, false)
		if n > 60 {
			for i := range c.Weights {
				c.Weights[i] = []int8{127, -128}[i%2]
			}
		}
		c.pack()
		text := strings.Repeat("the quick brown fox jumps över "+strings.Repeat("x", maxCached+n)+" 1o ", 50)
		want := make([]float64, n)
		for _, h := range hashes(text, Latin, false) {
			for i := range want {
				want[i] += float64(c.Weights[int(h>>26)*n+i]) / 2
			}
		}
		if diff := cmp.Diff(want, c.Scores(text, nil)); diff != "" {
			t.Fatalf("%d classes: %s", n, diff)
		}
	}
}

func model() *Model {
	rng := rand.New(rand.NewPCG(1, 2))
	m := new(Model)
	m.Scripts[Latin] = random(rng, []string{"de", "en", ""}, 4, false)
	m.Close = []Classes{random(rng, []string{"id", "ms"}, 3, true), random(rng, []string{"da", "no"}, 0, true)}
	return m
}

func TestCodec(t *testing.T) {
	m := model()
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got, cmp.FilterPath(func(p cmp.Path) bool {
		return slices.Contains([]string{".rows", ".width", ".caches"}, p.Last().String())
	}, cmp.Ignore())); diff != "" {
		t.Error(diff)
	}
	if _, err := Decode(data[:len(data)-5]); !errors.Is(err, ErrDamaged) {
		t.Errorf("a file cut short: %v", err)
	}
	m.Scripts[Latin].Bits++
	if _, err := m.Encode(); err == nil {
		t.Error("a table of the wrong size was encoded")
	}
}

// FuzzTable decodes tables from arbitrary bytes, and computes a score with each valid table. The
// bytes are not compressed, so that the fuzzer can change single fields.
func FuzzTable(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 0x3f, 0, 0, 0, 1, 'a', 1, 'b', 1, 2, 3, 4})
	f.Add([]byte{1, 1, 0, 1, 0x3f, 0, 0, 0, 0, 9})
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := new(Model)
		rest, err := m.table(raw)
		if err != nil {
			return
		}
		if len(rest) >= len(raw) {
			t.Fatal("nothing read")
		}
		for _, c := range append(m.Close, m.Scripts[:]...) {
			if len(c.Codes) > 0 && len(c.Scores("a b c abc", nil)) != len(c.Codes) {
				t.Error("a class has no score")
			}
		}
	})
}
