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

// common is the version of the rules for all languages: word boundaries, joined words (e-mail is
// indexed as email, too), lower case, pairs of characters and folding of letters. Since version 2
// there are joined words, and since version 3 terms for single characters of scripts without
// spaces.
const common = 3

// language is the analyzer of a language. It turns the surface form of a word (lower case and NFKC)
// into a term: first by the filters in stem, then by fold.
type language struct {
	version uint32              // version of the language's own rules; Version adds the version of the common rules
	stem    tokenFilters        // stemmer of the language; nil: words are not stemmed
	script  *unicode.RangeTable // script of the words to which the language's rules apply; nil: it has no rules
	letters string              // letters by which the language differs from others of the same script
	turkic  bool                // true: the capital of ı is I, and that of i is İ, as in Turkish
	// true: terms keep marks such as accents, and a word with marks has a second, looser term without
	// them
	marks bool
	inner bool // true: stemming also changes letters inside words (see ChangesInside)
}

// table holds the analyzer of each language, by the language's code. It follows these rules:
//   - Stop words are kept: phrases need them, and their idf is low.
//   - Where bluge has a light and a Snowball stemmer, the light one is used, as in
//     bluge's analyzers: it gives the forms of one word the same stem, but rarely
//     gives two different words the same one.
//   - A stemmer that does not need marks comes after foldFilter, so that words typed
//     without marks give the same terms.
//   - bluge's elision filters (ca fr ga it) and English possessive filter are not used.
//     Words end at apostrophes in every language, as in l'eau and o'clock, so that
//     phrases do not depend on the language.
var table = map[string]*language{
	// All other languages, and unknown ones.
	"": {},

	// Scripts without spaces: pairs of characters, the same in every language. In
	// Korean they also find a word without its particles. Words of other scripts
	// in these texts are not stemmed. Dictionaries would take 30–135 MB of memory
	// in each process, and miss the words that they lack.
	"zh": {}, "ja": {}, "ko": {}, "th": {}, "lo": {}, "km": {}, "my": {}, "bo": {},

	// Scripts with spaces, but no available stemmer whose quality was ever measured:
	// words are not stemmed, and are found in their exact form or by a prefix.
	"kk": {}, "ky": {}, "mn": {}, "tg": {}, "tl": {}, "ur": {}, "ps": {},

	// Latin
	// Snowball's newer rules; Porter's were not better on any judged set
	"en": {script: unicode.Latin, stem: tokenFilters{foldFilter{}, en.StemmerFilter()}},
	// ä and ae become a, ß becomes ss; the light stemmer removes only endings of
	// declension
	"de": {script: unicode.Latin, letters: "äöüß", inner: true, stem: tokenFilters{de.NormalizeFilter(), de.LightStemmerFilter()}},
	// Snowball: the light stemmers do not change words of fewer than five (es) and
	// six (it) letters, so that casa and casas would have different terms
	"es": {script: unicode.Latin, letters: "ñáíóúé¿¡", stem: tokenFilters{es.StemmerFilter()}},
	"it": {script: unicode.Latin, letters: "àèéìòù", stem: tokenFilters{it.StemmerFilter()}},
	// these stemmers drop accents themselves, after endings that need them (-ões); the French one
	// also makes one letter of doubled letters
	"fr": {script: unicode.Latin, letters: "éèêëàâçîïôûùœ", inner: true, stem: tokenFilters{fr.LightStemmerFilter()}},
	"pt": {script: unicode.Latin, letters: "ãõçáéíóúâêô", stem: tokenFilters{pt.LightStemmerFilter()}},
	// Snowball, since bluge has no others. In these languages letters with marks
	// are separate letters, so marks are dropped after stemming
	"da": {script: unicode.Latin, letters: "æøå", stem: tokenFilters{da.StemmerFilter()}},
	"fi": {script: unicode.Latin, letters: "äö", inner: true, stem: tokenFilters{fi.StemmerFilter()}},
	"hu": {script: unicode.Latin, letters: "őűáéíóúöü", stem: tokenFilters{hu.StemmerFilter()}},
	"nl": {script: unicode.Latin, letters: "ëï", stem: tokenFilters{nl.StemmerFilter()}},
	"no": {script: unicode.Latin, letters: "æøå", stem: tokenFilters{no.StemmerFilter()}},
	"ro": {script: unicode.Latin, letters: "ășțâîşţ", stem: tokenFilters{cedillas, ro.StemmerFilter()}},
	"sv": {script: unicode.Latin, letters: "åäö", stem: tokenFilters{sv.StemmerFilter()}},
	"tr": {script: unicode.Latin, letters: "ığşçöüİ", turkic: true, stem: tokenFilters{tr.StemmerFilter()}},
	// particles and possessives only, as Lucene's light Indonesian stemmer: without
	// prefixes, words of different meaning would have one term
	"id": {script: unicode.Latin, stem: tokenFilters{malay}},
	"ms": {script: unicode.Latin, stem: tokenFilters{malay}},
	// Tones distinguish words, but are often not typed: both forms are indexed.
	"vi": {script: unicode.Latin, letters: "ăâđêôơưáàảãạắằẳẵặấầẩẫậéèẻẽẹếềểễệíìỉĩịóòỏõọốồổỗộớờởỡợúùủũụứừửữựýỳỷỹỵ", marks: true},

	// Cyrillic: ё is е, stress is dropped.
	"ru": {script: unicode.Cyrillic, stem: tokenFilters{foldFilter{}, ru.StemmerFilter()}},

	// Arabic script. Folding does what bluge's normalizers of ar and fa do, for
	// ur and ps too.
	"ar":  {script: unicode.Arabic, letters: "ةىإأ", stem: tokenFilters{foldFilter{}, ar.StemmerFilter()}},
	"fa":  {script: unicode.Arabic, letters: "پچژگکی", stem: tokenFilters{foldFilter{}, persian}},
	"ckb": {script: unicode.Arabic, letters: "ێۆڵڕەپچگکی", stem: tokenFilters{ckb.NormalizeFilter(), ckb.StemmerFilter()}},

	// Devanagari. Folding normalises it by bluge's Indic and Hindi filters, also
	// for Nepali, because Hindi and Nepali are often mistaken for each other.
	"hi": {script: unicode.Devanagari, stem: tokenFilters{foldFilter{}, hi.StemmerFilter()}},
	"ne": {script: unicode.Devanagari, stem: tokenFilters{foldFilter{}, nepali}},
}

// aliases maps the codes of some languages without an analyzer of their own to the code of the
// language whose analyzer they use. For example, nb (a written form of Norwegian) uses that of no.
var aliases = map[string]string{"fil": "tl", "in": "id", "nb": "no", "nn": "no", "prs": "fa", "zsm": "ms", "yue": "zh"}

// Version returns the version of a language's analyzer, which every segment (part of the index)
// records. It is raised whenever any term of the language changes.
func Version(name string) uint32 { return common + languageOf(name).version }

// HasLone reports whether this version of an analyzer (see Version) makes terms for single
// characters of scripts without spaces (Occurrence.First). Documents analysed by an older version do
// not have these terms.
func HasLone(version uint32) bool { return version >= 3 }

// ChangesInside reports whether the stemmer of a language changes letters inside words. For
// example, the French one makes asoci of associe, and the German one makes frecuncia of frecuencia.
// Of an ASCII word of at least five letters, the stemmers of all other languages change only the
// end.
func ChangesInside(tag string) bool { return languageOf(tag).inner }

// languageOf returns the analyzer of the language that a language code or a BCP 47 tag names. For a
// language without an analyzer of its own, it is the one for all other languages.
func languageOf(tag string) *language { return table[codeOf(tag)] }

// codeOf returns the code of the language whose analyzer is used for a BCP 47 tag, such as "pt" for
// pt_BR. If the language has no analyzer, codeOf returns "", the code for all other languages.
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

// terms returns the term of a word, which must be in its surface form (lower case and NFKC). In
// some languages (l.marks) the term keeps marks, such as accents. A word with marks then has a
// second term without them, the result loose, so that it is also found by a query without marks.
// For all other words, loose is "". Words with digits are not stemmed, because they are names and
// numbers.
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
