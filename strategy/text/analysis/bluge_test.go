package analysis

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/blugelabs/bluge/analysis"
	"github.com/blugelabs/bluge/analysis/lang/ar"
	"github.com/blugelabs/bluge/analysis/lang/en"
	"github.com/blugelabs/bluge/analysis/lang/fa"
	"github.com/blugelabs/bluge/analysis/lang/hi"
	"github.com/blugelabs/bluge/analysis/lang/in"
	"github.com/blugelabs/bluge/analysis/lang/ru"
	"github.com/blugelabs/bluge/analysis/token"
	"github.com/blugelabs/bluge/analysis/tokenizer"
	"github.com/google/go-cmp/cmp"
)

// TestTokensAreBluges compares the terms of random words with those of bluge, a search library. It
// uses bluge's tokenizer and filters for the same language, except the filter of stop words. The
// terms must be the same.
func TestTokensAreBluges(t *testing.T) {
	tests := map[string]struct {
		filters analysis.Analyzer
		roots   []string
		endings []string
	}{
		"en": {
			analysis.Analyzer{TokenFilters: tokenFilters{en.NewPossessiveFilter(), token.NewLowerCaseFilter(), en.StemmerFilter()}},
			[]string{"Run", "CONNECT", "relat", "happi", "gener", "univers", "sky", "by", "y", "x", "oper", "commun", "hop", "fall"},
			[]string{"", "s", "es", "ies", "ed", "ing", "ingly", "ation", "ational", "iveness", "y", "ly", "ment", "fulness", "ously", "e", "ee"},
		},
		"ru": {
			analysis.Analyzer{TokenFilters: tokenFilters{token.NewLowerCaseFilter(), ru.StemmerFilter()}},
			[]string{"Книг", "МОСКВ", "красив", "чита", "сообщ", "йод", "б"},
			[]string{"", "а", "ами", "ого", "ейше", "ость", "вшись", "ться", "ение", "ый", "ете"},
		},
		"ar": {
			analysis.Analyzer{TokenFilters: tokenFilters{ar.NormalizeFilter(), ar.StemmerFilter()}},
			[]string{"كتاب", "الكِتَاب", "والمدرس", "أحمد", "إلى", "آب", "لل", "و"},
			[]string{"", "ة", "ات", "ون", "ين", "ها", "ية", "ـ", "ى"},
		},
		"fa": {
			analysis.Analyzer{TokenFilters: tokenFilters{ar.NormalizeFilter(), fa.NormalizeFilter(), persian}},
			[]string{"کتاب", "خانۀ", "خانه", "پچپچ", "گربه"},
			[]string{"", "ی", "ها", "ے", "ہ", "ك"},
		},
		"hi": {
			analysis.Analyzer{TokenFilters: tokenFilters{in.NormalizeFilter(), hi.NormalizeFilter(), hi.StemmerFilter()}},
			[]string{"लड़क", "किताब", "हिन्द", "क़लम", "ऑ"},
			[]string{"", "ी", "े", "ों", "ियाँ", "ाएंगे", "ा"},
		},
	}
	random := rand.New(rand.NewPCG(1, 2))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.filters.Tokenizer = tokenizer.NewUnicodeTokenizer()
			var text strings.Builder
			for range 5000 {
				text.WriteString(test.roots[random.IntN(len(test.roots))])
				text.WriteString(test.endings[random.IntN(len(test.endings))])
				text.WriteString([]string{" ", ", ", ". ", "\n", " (", "; "}[random.IntN(6)])
			}
			var want, got []string
			for _, token := range test.filters.Analyze([]byte(text.String())) {
				want = append(want, string(token.Term))
			}
			For(name).Each(text.String(), func(o Occurrence) bool {
				got = append(got, o.Term)
				return true
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("tokens (-want +got):\n%s", diff)
			}
		})
	}
}
