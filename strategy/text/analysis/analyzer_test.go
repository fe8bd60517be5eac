package analysis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// occurrences returns the occurrences in a text as strings: term, position, range in bytes.
func occurrences(name, text string) (got []string) {
	For(name).Each(text, func(o Occurrence) bool {
		got = append(got, fmt.Sprintf("%s %d %s", o.Term, o.Position, text[o.Start:o.End]))
		return true
	})
	return got
}

func TestEach(t *testing.T) {
	tests := []struct {
		language, text string
		want           []string
	}{
		{"en", "", nil},
		{"en", "Running, runs!", []string{"run 1 Running", "run 2 runs"}},
		{"", "Running", []string{"running 1 Running"}},
		{"en", "os.path_join", []string{"os 1 os", "path 2 path", "join 3 join", "pathjoin 3 path_join"}},
		{"en", "e-mail a@b.org", []string{"e 1 e", "mail 2 mail", "email 2 e-mail", "a 3 a", "b 4 b", "org 5 org"}},
		{"en", "v1.5.2", []string{"v1 1 v1", "5 2 5", "2 3 2"}},
		{"en", "C++, C#; .NET", []string{"c++ 1 C++", "c 1 C", "c# 2 C#", "c 2 C", "net 3 NET"}},
		{"en", "a+b c++d f#1 std++", []string{"a 1 a", "b 2 b", "c 3 c", "d 4 d", "f 5 f", "1 6 1", "std 7 std"}},
		{"en", "Müller's ÉTÉ", []string{"muller 1 Müller", "s 2 s", "ete 3 ÉTÉ"}},
		{"en", "UTF-8, 2026-01-31, pg_dump_all- x", []string{"utf 1 UTF", "8 2 8", "utf8 2 UTF-8", "2026 3 2026", "01 4 01", "31 5 31",
			"pg 6 pg", "dump 7 dump", "all 8 all", "pgdumpal 8 pg_dump_all", "x 9 x"}},
		{"fr", "l'eau", []string{"l 1 l", "eau 2 eau"}},
		{"", "e\u0301te\u0301", []string{"ete 1 e\u0301te\u0301"}},
		{"en", "co\u00adopt", []string{"coopt 1 co\u00adopt"}},
		{"", "Москва́ йод ёж", []string{"москва 1 Москва́", "йод 2 йод", "еж 3 ёж"}},
		{"", "½ Ⅳ x²", []string{"½ 1 ½", "iv 2 Ⅳ", "x2 3 x²"}},
		{"", "١٢٣ ४५ ๖ １", []string{"123 1 ١٢٣", "45 2 ४५", "6 3 ๖", "1 4 １"}},
		{"vi", "Hà Nội ha", []string{"hà 1 Hà", "ha 1 Hà", "nội 2 Nội", "noi 2 Nội", "ha 3 ha"}},
		{"fa", "کتاب\u200cها", []string{"كتاب 1 کتاب", "ها 2 ها"}},
		{"", "क्\u200cष", []string{"कष 1 क्\u200cष"}},

		{"ja", "東京都 x", []string{"東 京 1 東京", "京 都 2 京都", "都  3 都", "x 4 x"}},
		{"zh", "京 1時", []string{"京  1 京", "1 2 1", "時  3 時"}},
		{"ja", "サーバ", []string{"サ ー 1 サー", "ー バ 2 ーバ", "バ  3 バ"}},
		{"ja", "ｶﾞｽ", []string{"ガ ス 1 ｶﾞｽ", "ス  2 ｽ"}},
		{"ko", "한글 \u1112\u1161\u11ab", []string{"한 글 1 한글", "글  2 글", "한  3 \u1112\u1161\u11ab"}},
		{"zh", "中\u200b文", []string{"中 文 1 中\u200b文", "文  2 文"}},
		{"", "a\u200bb", []string{"a 1 a", "b 2 b"}},
		{"zh", "ＡＢＣ葛󠄀城", []string{"abc 1 ＡＢＣ", "葛 城 2 葛󠄀城", "城  3 城"}},

		{"en", strings.Repeat("x", maxWord+1) + " y", []string{"y 2 y"}},
		{"en", strings.Repeat("ﷲ", maxWord/3), nil},
		{"zh", "中" + strings.Repeat("\u0301", maxWord) + "文", []string{"文  2 文"}},
		{"", "a\xffb", []string{"a 1 a", "b 2 b"}},
	}
	for _, test := range tests {
		t.Run(test.language+" "+test.text, func(t *testing.T) {
			if diff := cmp.Diff(test.want, occurrences(test.language, test.text)); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachStops(t *testing.T) {
	for _, text := range []string{"one two", "C++ two", "Hà Nội", "中文字"} {
		calls := 0
		position := For("vi").Each(text, func(Occurrence) bool { calls++; return false })
		if calls != 1 || position != 1 {
			t.Errorf("%s: stopped at position %d after %d calls, want 1 after 1", text, position, calls)
		}
	}
}

func TestEachCountsWords(t *testing.T) {
	text := strings.Repeat("x", maxWord+1) + " Hà C++ 中文"
	if n := For("vi").Each(text, func(Occurrence) bool { return true }); n != 5 {
		t.Errorf("%d words, want 5", n)
	}
}

func TestCapitalsAndWord(t *testing.T) {
	tests := []struct {
		language, text string
		word           string
		capitals       bool
	}{
		{"en", "NASA", "nasa", true},
		{"en", "B2B", "b2b", true},
		{"en", "A", "a", false},
		{"en", "A4", "a4", false},
		{"en", "Nasa", "nasa", false},
		{"en", "Running", "running", false},
		{"ru", "СССР", "ссср", true},
		{"de", "Straße", "straße", false},
		{"vi", "HÀ", "hà", true},
		{"tr", "IŞIK", "ışık", true},
		{"de", "IŞIK", "işik", true},
		{"", "İstanbul", "istanbul", false},
		{"ar", "كِتَاب", "كِتَاب", false},
		{"zh", "中文", "", false},
		{"", "C++", "c++", false},
	}
	for _, test := range tests {
		t.Run(test.language+" "+test.text, func(t *testing.T) {
			For(test.language).Each(test.text, func(o Occurrence) bool {
				if o.Word != test.word || o.Capitals != test.capitals {
					t.Errorf("word %q, capitals %v; want %q, %v", o.Word, o.Capitals, test.word, test.capitals)
				}
				return false
			})
		})
	}
}

// TestLooserFormsHaveNoWord checks the second, looser term that some words have (C++ also has the
// term of C). The occurrence of this term must have an empty Word: otherwise the spelling
// correction would count the word twice.
func TestLooserFormsHaveNoWord(t *testing.T) {
	for _, text := range []string{"C++", "Hà"} {
		var words []string
		For("vi").Each(text, func(o Occurrence) bool { words = append(words, o.Word); return true })
		if len(words) != 2 || words[0] == "" || words[1] != "" {
			t.Errorf("%s: words %q", text, words)
		}
	}
}

// TestMemory fills the cache of an Analyzer. It must hold at most maxMemo words, and a new word
// must get the right term even if the cache is full.
func TestMemory(t *testing.T) {
	a := For("en")
	ignore := func(Occurrence) bool { return true }
	for i := range maxMemo + 10 {
		a.Each(fmt.Sprintf("words%d", i), ignore)
	}
	if len(a.memo) > maxMemo {
		t.Errorf("%d words are remembered", len(a.memo))
	}
	for range 2 {
		a.Each("Running", func(o Occurrence) bool {
			if o.Term != "run" {
				t.Errorf("term is %q", o.Term)
			}
			return true
		})
	}
}

func TestEachDoesNotAllocate(t *testing.T) {
	for name, text := range fixtures {
		a := For(name)
		ignore := func(Occurrence) bool { return true }
		a.Each(text, ignore)
		if n := testing.AllocsPerRun(10, func() { a.Each(text, ignore) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
