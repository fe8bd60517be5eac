package analysis

import (
	"strings"
	"unicode"

	"github.com/blugelabs/bluge/analysis"
	"github.com/blugelabs/bluge/analysis/lang/ar"
	"github.com/blugelabs/bluge/analysis/lang/ckb"
	"github.com/blugelabs/bluge/analysis/lang/da"
	"github.com/blugelabs/bluge/analysis/lang/de"
	"github.com/blugelabs/bluge/analysis/lang/en"
	"github.com/blugelabs/bluge/analysis/lang/es"
	"github.com/blugelabs/bluge/analysis/lang/fi"
	"github.com/blugelabs/bluge/analysis/lang/fr"
	"github.com/blugelabs/bluge/analysis/lang/hi"
	"github.com/blugelabs/bluge/analysis/lang/hu"
	"github.com/blugelabs/bluge/analysis/lang/it"
	"github.com/blugelabs/bluge/analysis/lang/nl"
	"github.com/blugelabs/bluge/analysis/lang/no"
	"github.com/blugelabs/bluge/analysis/lang/pt"
	"github.com/blugelabs/bluge/analysis/lang/ro"
	"github.com/blugelabs/bluge/analysis/lang/ru"
	"github.com/blugelabs/bluge/analysis/lang/sv"
	"github.com/blugelabs/bluge/analysis/lang/tr"
)

type tokenFilters = []analysis.TokenFilter

// common is the version of the rules for all languages: word boundaries, surface forms,
// pairs and folding.
const common = 1

// language is the analyzer of a language. A word's surface form passes stem, then fold.
type language struct {
	version uint32              // of what is its own
	stem    tokenFilters        // nil where no stemmer is known to help
	script  *unicode.RangeTable // that stem is for; nil if words are plain
	letters string              // that tell it from other languages of the script
	turkic  bool                // I is the capital of ı, and İ of i
	marks   bool                // terms keep their marks; without them they are the looser form
}

// table gives each language its analyzer. The rules for all:
//   - No stop words: phrases need them, and idf makes them cheap to score.
//   - Light stemmers before Snowball's where bluge has both, as its analyzers
//     choose: they join forms of one word and rarely two words.
//   - A filter comes after foldFilter where it does not need the marks, so that
//     words typed without them give the same terms.
//   - bluge's elision filters (ca fr ga it) and English possessive filter are
//     not used: words end at apostrophes in every language, which parts l'eau
//     and o'clock alike, so that phrases do not depend on the language.
var table = map[string]*language{
	// All others, and languages that cannot be told.
	"": {},

	// No spaces between words: pairs, alike in every language; in Korean they
	// also find the word below its particles. Words of other scripts in their
	// texts are not stemmed. Dictionaries would cost 30–135 MB a process, and
	// miss the words that they do not know.
	"zh": {}, "ja": {}, "ko": {}, "th": {}, "lo": {}, "km": {}, "my": {}, "bo": {},

	// Spaces, but no stemmer at hand that was ever measured. Their own words are
	// found as they are, and by their beginnings.
	"kk": {}, "ky": {}, "mn": {}, "tg": {}, "tl": {}, "ur": {}, "ps": {},

	// Latin
	// Snowball's newer rules; Porter's were no better on any judged set
	"en": {script: unicode.Latin, stem: tokenFilters{foldFilter{}, en.StemmerFilter()}},
	// ä, ae and a meet, ß and ss; the light stemmer strips declension only
	"de": {script: unicode.Latin, letters: "äöüß", stem: tokenFilters{de.NormalizeFilter(), de.LightStemmerFilter()}},
	// Snowball: the light stemmers leave words of fewer than five (es) and six
	// (it) letters alone, so that casa and casas, libro and libri would not meet
	"es": {script: unicode.Latin, letters: "ñáíóúé¿¡", stem: tokenFilters{es.StemmerFilter()}},
	"it": {script: unicode.Latin, letters: "àèéìòù", stem: tokenFilters{it.StemmerFilter()}},
	// take accents off themselves, after endings that are told by them (-ões)
	"fr": {script: unicode.Latin, letters: "éèêëàâçîïôûùœ", stem: tokenFilters{fr.LightStemmerFilter()}},
	"pt": {script: unicode.Latin, letters: "ãõçáéíóúâêô", stem: tokenFilters{pt.LightStemmerFilter()}},
	// Snowball, the only stemmers of bluge; their letters with marks are letters
	// of their own, so marks go last
	"da": {script: unicode.Latin, letters: "æøå", stem: tokenFilters{da.StemmerFilter()}},
	"fi": {script: unicode.Latin, letters: "äö", stem: tokenFilters{fi.StemmerFilter()}},
	"hu": {script: unicode.Latin, letters: "őűáéíóúöü", stem: tokenFilters{hu.StemmerFilter()}},
	"nl": {script: unicode.Latin, letters: "ëï", stem: tokenFilters{nl.StemmerFilter()}},
	"no": {script: unicode.Latin, letters: "æøå", stem: tokenFilters{no.StemmerFilter()}},
	"ro": {script: unicode.Latin, letters: "ășțâîşţ", stem: tokenFilters{cedillas, ro.StemmerFilter()}},
	"sv": {script: unicode.Latin, letters: "åäö", stem: tokenFilters{sv.StemmerFilter()}},
	"tr": {script: unicode.Latin, letters: "ığşçöüİ", turkic: true, stem: tokenFilters{tr.StemmerFilter()}},
	// particles and possessives only, as Lucene's light Indonesian stemmer:
	// taking prefixes off joins words of different meaning
	"id": {script: unicode.Latin, stem: tokenFilters{malay}},
	"ms": {script: unicode.Latin, stem: tokenFilters{malay}},
	// Tones tell words apart, but are often not typed: both forms are indexed.
	"vi": {script: unicode.Latin, letters: "ăâđêôơưáàảãạắằẳẵặấầẩẫậéèẻẽẹếềểễệíìỉĩịóòỏõọốồổỗộớờởỡợúùủũụứừửữựýỳỷỹỵ", marks: true},

	// Cyrillic: ё is е, stress is dropped.
	"ru": {script: unicode.Cyrillic, stem: tokenFilters{foldFilter{}, ru.StemmerFilter()}},

	// Arabic script. Folding does what bluge's normalizers of ar and fa do, for
	// ur and ps too.
	"ar":  {script: unicode.Arabic, letters: "ةىإأ", stem: tokenFilters{foldFilter{}, ar.StemmerFilter()}},
	"fa":  {script: unicode.Arabic, letters: "پچژگکی", stem: tokenFilters{foldFilter{}, persian}},
	"ckb": {script: unicode.Arabic, letters: "ێۆڵڕەپچگکی", stem: tokenFilters{ckb.NormalizeFilter(), ckb.StemmerFilter()}},

	// Devanagari. Folding normalises it by bluge's Indic and Hindi filters, for
	// Nepali too: both are written alike, and mistaken for each other.
	"hi": {script: unicode.Devanagari, stem: tokenFilters{foldFilter{}, hi.StemmerFilter()}},
	"ne": {script: unicode.Devanagari, stem: tokenFilters{foldFilter{}, nepali}},
}

// aliases are other codes of the languages.
var aliases = map[string]string{"fil": "tl", "in": "id", "nb": "no", "nn": "no", "prs": "fa", "zsm": "ms", "yue": "zh"}

// Version returns the version of a language's analyzer. It is raised whenever
// any of its output changes, and is kept in every segment.
func Version(name string) uint32 { return common + languageOf(name).version }

// languageOf returns the analyzer of a language code or tag.
func languageOf(tag string) *language { return table[codeOf(tag)] }

// codeOf returns the code that the table has for a language tag, "" if none.
func codeOf(tag string) string {
	code := strings.ToLower(tag)
	if i := strings.IndexAny(code, "-_"); i >= 0 {
		code = code[:i]
	}
	if same, is := aliases[code]; is {
		code = same
	}
	if table[code] == nil {
		return ""
	}
	return code
}

// terms returns the term of a surface form, and a looser one if it has one. Words with
// digits are names and numbers, and are not stemmed.
func (l *language) terms(word string) (term, loose string) {
	if l.stem != nil && !strings.ContainsAny(word, "0123456789") {
		term = fold(apply(l.stem, word))
	}
	if term == "" {
		term = fold(word)
	}
	if l.marks && term != word {
		return word, term
	}
	return term, ""
}
