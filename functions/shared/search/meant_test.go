package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// pagesOf returns n documents with each of the texts, in the language lang.
func pagesOf(lang string, n int, texts ...string) (docs []segment.Document) {
	for i, text := range texts {
		for k := range n {
			d := page(fmt.Sprintf("http://%s/%d/%d", lang, i, k), text)
			d.Lang = lang
			docs = append(docs, d)
		}
	}
	return docs
}

func TestMeant(t *testing.T) {
	docs := slices.Concat(
		pagesOf("en", 20, "vacuum a table of the database", "a garden without mice and an autovacuum_naptime"),
		pagesOf("en", 1, "the vacuums of Vakuum, a rare identifier vacuuk for tables"),
		pagesOf("de", 12, "der Garten der Datenbank"),
		pagesOf("ru", 3, "привет мир", "привет масса"),
	)
	ix := indexOf(t, docs[:30], docs[30:])
	for text, want := range map[string]string{
		"vacum":                       "vacuum 21",
		"Vacumm":                      "Vacuum 21",
		"VACUMM":                      "VACUUM 21",
		"+vacum -mice":                "+vacuum -mice 21",
		"vacum site:example.org":      "vacuum site:example.org 21",
		`"vacuum a tabel"`:            `"vacuum a table" 20`,
		"tabel vacum":                 "table vacuum 21",
		"vacuumtable":                 "vacuum table 21",
		"+vacuumtable":                "+vacuum +table 21",
		"data base":                   "database 20",
		"autovacum_naptime":           "autovacuum_naptime 20", // a query for naptime alone finds as many documents
		"мфсггь":                      "vacuum 21",
		"ghbdtn":                      "привет 6",
		"+ghbdtn \"vfccf\"":           "+привет \"масса\" 3",
		"garxen":                      "garden 20",
		"garxen lang:de":              "garten lang:de 12",
		"garxen der datenbank":        "garten der datenbank 12",
		"vacuum":                      "",
		"vacuuming":                   "", // finds the pages with vacuum
		"vacuuk":                      "", // rare, but right
		"vakuum":                      "",
		"table -vacum":                "",
		"vacum*":                      "",
		"site:vacum table":            "",
		"mailto:vacum@example":        "",
		"xyzzyplugh":                  "",
		"vacum after:2027":            "", // finds nothing either
		`"table vacuum"`:              "",
		"vac":                         "",
		strings.Repeat("vacum ", 999): "",
	} {
		got := ""
		if m := find(t, ix, Query{Text: text, Size: 10}).Meant; m != nil {
			got = fmt.Sprint(m.Text, " ", m.Total)
			var whole strings.Builder
			for _, f := range m.Marked {
				whole.WriteString(f.Text)
			}
			if whole.String() != m.Text || !slices.ContainsFunc(m.Marked, func(f Fragment) bool { return f.Match }) {
				t.Errorf("%q is meant as %q, marked as %v", text, m.Text, m.Marked)
			}
			if n := find(t, ix, Query{Text: m.Text, Size: 10}).Total; n != m.Total {
				t.Errorf("%q finds %d pages, not %d", m.Text, n, m.Total)
			}
		}
		if got != want {
			t.Errorf("%.50q is meant as %q, want %q", text, got, want)
		}
	}
	for name, q := range map[string]Query{
		"further page": {Text: "vacum", From: 10, Size: 10},
		"no hits":      {Text: "vacum"},
	} {
		if m := find(t, ix, q).Meant; m != nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	marked := find(t, ix, Query{Text: "+vacum -mice", Size: 1}).Meant.Marked
	if d := cmp.Diff([]Fragment{{"+", false}, {"vacuum", true}, {" -mice", false}}, marked); d != "" {
		t.Errorf("marked (-want +got)\n%s", d)
	}
}

// mistype returns a word with a mistake of one of four kinds: a letter left out, two letters swapped, a
// letter typed twice, or the key beside it.
func mistype(random *rand.Rand, word string) string {
	i := random.IntN(len(word) - 1)
	switch random.IntN(4) {
	case 0:
		return word[:i] + word[i+1:]
	case 1:
		return word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
	case 2:
		return word[:i+1] + word[i:]
	}
	const keys = "qwertyuiop asdfghjkl zxcvbnm qazsxdc"
	at := strings.IndexByte(keys, word[i])
	return word[:i] + strings.TrimSpace(keys[at+1:at+2]) + word[i+1:]
}

// TestMistypedWords mistypes 500 words of the documentation of three packages, whose paragraphs are the
// pages, and checks that most are corrected. Nearly all of the right words must be left alone.
func TestMistypedWords(t *testing.T) {
	var docs []segment.Document
	for _, file := range []string{"doc.go", "../../../layout/segment/doc.go", "../../../strategy/collection/doc.go"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range strings.Split(strings.ReplaceAll(string(content), "//", " "), "\n \n") {
			docs = append(docs, page(fmt.Sprint("http://", file, "/", i), text))
		}
	}
	ix := indexOf(t, docs)
	words := make(map[string]bool)
	for _, d := range docs {
		for _, w := range analysis.Query(d.Body, []*analysis.Analyzer{analysis.For("")}) {
			if len(w.Text) >= 5 && strings.Trim(w.Text, "abcdefghijklmnopqrstuvwxyz") == "" {
				words[w.Text] = true
			}
		}
	}
	all := make([]string, 0, len(words))
	for word := range words {
		all = append(all, word)
	}
	slices.Sort(all)
	random := rand.New(rand.NewPCG(1, 2))
	const n = 500
	right, alone := 0, 0
	for range n {
		word := all[random.IntN(len(all))]
		mistyped := mistype(random, word)
		for words[mistyped] {
			mistyped = mistype(random, word)
		}
		found := find(t, ix, Query{Text: mistyped, Size: 10})
		if found.Meant != nil && found.Meant.Text == word {
			right++
		}
		if find(t, ix, Query{Text: word, Size: 10}).Meant == nil {
			alone++
		}
	}
	t.Logf("of %d words %d are corrected, and %d left alone", n, right, alone)
	if right < n*85/100 || alone < n*99/100 {
		t.Errorf("of %d mistyped words %d are corrected, of as many right ones %d left alone", n, right, alone)
	}
}

func TestIsSlip(t *testing.T) {
	for typed, other := range map[string]string{"vacumu": "vacuum", "vaccuum": "vacuum", "vacum": "vacuum", "vavuum": "vacuum", "eon": "won", "aal": "al", "ba": "ab"} {
		if !isSlip(typed, other) {
			t.Errorf("%s for %s is no slip", typed, other)
		}
	}
	for typed, other := range map[string]string{"vacuam": "vacuum", "vacuums": "vacuum", "acuum": "vacuum", "mucuav": "vacuum", "vacuum": "vacuum"} {
		if isSlip(typed, other) {
			t.Errorf("%s for %s is a slip", typed, other)
		}
	}
}

func TestRetyped(t *testing.T) {
	for typed, want := range map[string]string{
		"ghbdtn": "привет", "руддщ": "hello", "zusammen": "yusammen", "λόγος": "", "vacuum": "мфсггь", "שלום": "akuo", "akuo": "שלום", "اثممخ": "hello", "gh": "لا",
	} {
		got := retyped(typed)
		if want != "" && !slices.Contains(got, want) || want == "" && len(got) > 0 {
			t.Errorf("%s may be %q, want %q among them", typed, got, want)
		}
	}
	for _, keyboard := range keyboards {
		if got, want := len(strings.Fields(keyboard)), len(strings.Fields(latinKeys)); got != want {
			t.Errorf("a keyboard has %d keys, not %d: %s", got, want, keyboard)
		}
	}
}

func FuzzPieces(f *testing.F) {
	f.Add(`+vacum -"full table" site:a "data base"~3 pre* „мфсггь“`)
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, p := range plainPieces(text) {
			start, end := p.bare(text)
			if p.start < last || p.end > len(text) || start < p.start || end < start || end > p.end {
				t.Fatalf("piece %+v of %q, bare %d to %d", p, text, start, end)
			}
			for _, w := range p.words {
				if w.Start < last || w.End > p.end {
					t.Fatalf("word %+v of %q", w, text)
				}
				last = w.Start
			}
			if start < end {
				retyped(text[start:end])
				if got, marked := corrected(text, []correction{{start, end, "x"}}); len(got) != len(text)-(end-start)+1 || !slices.ContainsFunc(marked, func(f Fragment) bool { return f.Match }) {
					t.Fatalf("%q is corrected to %q", text, got)
				}
			}
			last = p.start
		}
	})
}
