package search

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// bracketed returns fragments as one text, with brackets around matches.
func bracketed(extracts []Fragment) string {
	var out strings.Builder
	for _, f := range extracts {
		if f.Match {
			out.WriteString("[" + f.Text + "]")
		} else {
			out.WriteString(f.Text)
		}
	}
	return out.String()
}

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("nothing of note here ", 40)
	tests := []struct {
		name, query, text, want string
	}{
		{"whole text", "fox", "The Foxes\n\n ran; a fox\tsat.", "The [Foxes] ran; a [fox] sat."},
		{"no match", "cat", "The foxes ran.", "The foxes ran."},
		{"empty", "cat", "", ""},
		{"chinese", "搜索引擎", "大型搜索引擎运行", "大型[搜索引擎]运行"},
		{"chinese behind digits", "搜索", "共有 10个搜索引擎", "共有 10个[搜索]引擎"},
		{"signs", "c++", "C++ and c", "[C++] and c"},
		{"quoted signs", "c++", "“C++” and ‘c’", "“[C++]” and ‘c’"},
		{"control characters", "fox", "a\x00\x1b[31mfox", "a [31mfox"},
		{"excluded words", "ran -fox", "fox ran", "fox [ran]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, bracketed(snippetFor(test.query, test.text))); diff != "" {
				t.Errorf("snippet (-want +got):\n%s", diff)
			}
		})
	}

	t.Run("part with all words", func(t *testing.T) {
		got := bracketed(snippetFor("red fox", "red "+filler+"the fox is red "+filler+"fox"))
		if !strings.Contains(got, "the [fox] is [red] ") || !strings.HasPrefix(got, "… ") || !strings.HasSuffix(got, " …") {
			t.Errorf("snippet is %q", got)
		}
	})
	t.Run("without spaces", func(t *testing.T) {
		got := bracketed(snippetFor("東京", strings.Repeat("何も無い", 200)+"東京"+strings.Repeat("何も無い", 200)))
		if !strings.Contains(got, "[東京]") || !utf8.ValidString(got) || widthOf(got, 1000) > snippetSize+6 {
			t.Errorf("snippet of %d bytes is %q", len(got), got)
		}
	})
	t.Run("nearest together", func(t *testing.T) {
		got := bracketed(snippetFor("red fox", "red is not what every fox is. "+strings.Repeat("more ", 60)+"Here the red fox sat."))
		if !strings.Contains(got, "Here the [red] [fox] sat.") {
			t.Errorf("snippet is %q", got)
		}
	})
	t.Run("from the start of a sentence", func(t *testing.T) {
		for text, want := range map[string]string{
			filler + ". In the wood lived a fox. " + filler:                     "… In the wood lived a [fox]. nothing",
			filler + "\nheading\nof what the fox did. " + filler:                "… of what the [fox] did. nothing",
			strings.Repeat("何も無い", 100) + "。森に東京" + strings.Repeat("何も無い", 100): "… 森に[東京]何も無い",
			"A fox. " + filler: "A [fox]. nothing",
			filler + "approx. in the wood the fox " + filler: "nothing of note here approx. in the wood the [fox] nothing",
		} {
			got := bracketed(snippetFor("fox 東京", text))
			if !strings.HasPrefix(got, want) && !(strings.Contains(want, "approx") && strings.Contains(got, want)) {
				t.Errorf("snippet is %q, want %q", got, want)
			}
		}
	})
	t.Run("as wide in every script", func(t *testing.T) {
		for _, word := range []string{"lorem", "слово", "शब्दों", "文字", "글자", "ตัวอักษร", "ａｂ", "e\u0301te\u0301"} {
			got := bracketed(snippetFor("fox", strings.Repeat(word+" ", 200)))
			if wide := widthOf(got, 1000); wide < snippetSize-10 || wide > snippetSize+2 {
				t.Errorf("%s: %d columns", word, wide)
			}
		}
	})
	t.Run("neither pilcrows nor icons", func(t *testing.T) {
		if got := bracketed(snippetFor("fox", "Foxes¶\nThe fox \ue123ran.")); got != "[Foxes] The [fox] ran." {
			t.Errorf("snippet is %q", got)
		}
	})
	t.Run("without the title", func(t *testing.T) {
		for body, want := range map[string]string{
			"Foxes\nThe fox ran.":        "The [fox] ran.",
			"FOXES ¶\n\nThe fox ran.":    "The [fox] ran.",
			"Foxes":                      "[Foxes]",
			"Foxes and cats\nA fox ran.": "[Foxes] and cats A [fox] ran.",
		} {
			d := page("a", body)
			d.Title = "Foxes | Zoo"
			if got := bracketed(markerFor("fox").hit(&d).Snippet); got != want {
				t.Errorf("the snippet of %q is %q, want %q", body, got, want)
			}
		}
	})
	t.Run("no stop words", func(t *testing.T) {
		for query, want := range map[string]string{"the fox": "The [fox] sat on the roof.", "+the fox": "[The] [fox] sat on [the] roof.", "the on": "[The] fox sat [on] [the] roof."} {
			m := markerWith(query, func(w *queryWord) {
				if analysis.StopWordsOf("en").Has(w.surface) {
					w.stop = 1
				}
			})
			d := page("a", "The fox sat on the roof.")
			if got := bracketed(m.hit(&d).Snippet); got != want {
				t.Errorf("%s: the snippet is %q, want %q", query, got, want)
			}
		}
	})
	t.Run("never within a character or word", func(t *testing.T) {
		part := regexp.MustCompile(`^[\p{M}\x{200d}\x{e33}\x{1f3fb}-\x{1f3ff}]`) // what belongs to the character before it
		for _, word := range []string{
			"अंतर्राष्ट्रीयकरण", "البرمجيات", "การติดตั้งระบบปฏิบัติการน้ำ", "क्षत्रिय", "👩🏽‍🚀👨🏿‍🚀👩🏽‍🚀", "e\u0301te\u0301",
		} {
			for n := range 60 {
				text := strings.Repeat("x", n) + " " + strings.Repeat(word+" ", 30) + "fox " + strings.Repeat(word+" ", 40)
				if strings.HasPrefix(word, "👩") || strings.HasPrefix(word, "क्ष") || strings.HasPrefix(word, "การ") { // without spaces
					text = strings.Repeat("x", n) + " " + strings.Repeat(word, 30) + " fox " + strings.Repeat(word, 40)
				}
				for _, f := range snippetFor("fox", text) {
					cut := strings.Trim(f.Text, " …")
					at := strings.Index(text, cut)
					if cut == "" || at < 0 {
						continue
					}
					if part.MatchString(text[at:]) || part.MatchString(text[at+len(cut):]) || strings.HasSuffix(cut, "\u094d") {
						t.Fatalf("%q is cut within a character", cut)
					}
				}
			}
		}
		got := bracketed(snippetFor("fox", strings.Repeat("अंतर्राष्ट्रीयकरण ", 30)+"fox "+strings.Repeat("अंतर्राष्ट्रीयकरण ", 40)))
		for _, word := range strings.Fields(strings.Trim(got, "… ")) {
			if word != "अंतर्राष्ट्रीयकरण" && word != "[fox]" {
				t.Errorf("the word %q is cut in %q", word, got)
			}
		}
	})
	t.Run("long title", func(t *testing.T) {
		got := bracketed(titleFor("nothing", filler))
		if !strings.HasPrefix(got, "[nothing] of") || !strings.HasSuffix(got, " …") || len(got) > titleSize+50 {
			t.Errorf("title is %q", got)
		}
	})
}

// markerFor returns a marker for the words of a query, which all have the same weight.
func markerFor(query string) *textMarker { return markerWith(query, func(*queryWord) {}) }

// markerWith is like markerFor, after change has changed each word.
func markerWith(query string, change func(*queryWord)) *textMarker {
	ix := &Index{weights: standard, languages: []corpusLanguage{{name: "en", documents: 1}}}
	p := ix.plan(&Query{Text: query}, false)
	for _, w := range p.words {
		w.weight = 1
		change(w)
	}
	return newMarker(p, NewMemory(0))
}

func snippetFor(query, text string) []Fragment {
	d := page("a", text)
	return markerFor(query).hit(&d).Snippet
}

func titleFor(query, text string) []Fragment {
	d := page("a", "")
	d.Title = text
	return markerFor(query).hit(&d).MarkedTitle
}

func FuzzSnippet(f *testing.F) {
	f.Add("fox", "the fox \xff ran", 3)
	f.Add("東京", "何も無い東京", 100)
	f.Fuzz(func(t *testing.T, query, text string, times int) {
		text = strings.Repeat(text, min(max(times, 1), 200))
		got := snippetFor(query, text)
		size, wide := 0, 0
		for _, fragment := range got {
			size += len(fragment.Text)
			if wide += widthOf(fragment.Text, 1000); !utf8.ValidString(fragment.Text) || fragment.Text == "" {
				t.Errorf("fragment %q", fragment.Text)
			}
		}
		if wide > snippetSize+4 || size > columnBytes*snippetSize+20 {
			t.Errorf("%d columns, %d bytes", wide, size)
		}
	})
}

// TestWordsEndAtPunctuation checks that a word ends at punctuation that is not ASCII.
func TestWordsEndAtPunctuation(t *testing.T) {
	for r := rune(0x2010); r <= 0x2027; r++ {
		text := "ab" + string(r) + "cd"
		if end, _ := wordEnd(text, 0); end != 2 {
			t.Errorf("%q ends at %d", text, end)
		}
		for _, language := range strings.Fields("en de fr tr fa zh th bo xx") {
			var terms []string
			analysis.For(language).Each(text, func(o analysis.Occurrence) bool { terms = append(terms, o.Term); return o.Position < 2 })
			if strings.Join(terms, " ") != "ab cd" {
				t.Errorf("%s: %q is %q", language, text, terms)
			}
		}
	}
	for _, text := range []string{"a\u200cb", "a\u2028b", "a\u2100", "a\xe2\x80", "a\xe2"} {
		if end, _ := wordEnd(text, 0); end != len(text) {
			t.Errorf("%q ends at %d", text, end)
		}
	}
}

// TestBeginningsMissNothing reduces words to terms by the analyzers of many languages. It adds each term
// alone to a value of the type beginnings, and checks that this value's methods accept the word.
func TestBeginningsMissNothing(t *testing.T) {
	words := strings.Fields(`dying lying tying skis flies Yards sky news ae aepfel Aerzte oefen ueber eau ffentliches
		llanos aardvark ISTANBUL istanbul INDIR ilk Bir x 1a 9th running knives geese users ties Ypsilon oo oui u2 c
		possibility Capability happier nobility stability luxuriating relational hoping hopping agreed early gently ugly
		idly only singly news innings skies fluency organization sensitivity triplicate electrical cosmos atlas bias
		analogies allies conflated troubling controlling universities generously communism arsenal exceeding succeeded
		proceed agreeable abilities hypothesis vacuous ponies caresses matrices indices frecuencia suexec
		disinstallazione interessierten associe alloue nettoie panneau memanggilnya terbesar
		segueixin accueille Habituellement sostituendola chiacchierare continuiamo vergaderingen bijzonderheden
		Yenikapi zyklus informacionales kommunikationernes`)
	for _, language := range strings.Fields("en de es fr it pt da fi hu nl no ro sv tr vi id ms ar fa ckb hi ne ru zh xx") {
		a := analysis.For(language)
		for _, word := range words {
			a.Each(word, func(o analysis.Occurrence) bool {
				var b beginnings
				if b.add(o.Term); !b.may(word) || !b.mayBeFolded(word) || !analysis.ChangesInside(language) && !b.mayBeStemmed(word) {
					t.Errorf("%s: %s is a word of %s", language, word, o.Term)
				}
				return true
			})
		}
		for _, word := range strings.Fields(`Écoles über Ärzte ßa œuvre İdeal ılık ştiință больше Ёлка Αθήνα ἀρχή שלום կա ｆｕｌｌ １２ ١٢ ①st
			Ångström naïve đường K2 ﬁne dž ǆ`) {
			a.Each(word, func(o analysis.Occurrence) bool {
				var b beginnings
				if b.add(o.Term); !b.mayBeFolded(word) {
					t.Errorf("%s: %s is a word of %s", language, word, o.Term)
				}
				return true
			})
		}
	}
}
