package analysis

import (
	"strings"
	"sync"

	"github.com/blugelabs/bluge/analysis"
	"github.com/blugelabs/bluge/analysis/lang/ar"
	"github.com/blugelabs/bluge/analysis/lang/bg"
	"github.com/blugelabs/bluge/analysis/lang/ca"
	"github.com/blugelabs/bluge/analysis/lang/ckb"
	"github.com/blugelabs/bluge/analysis/lang/cs"
	"github.com/blugelabs/bluge/analysis/lang/da"
	"github.com/blugelabs/bluge/analysis/lang/de"
	"github.com/blugelabs/bluge/analysis/lang/el"
	"github.com/blugelabs/bluge/analysis/lang/en"
	"github.com/blugelabs/bluge/analysis/lang/es"
	"github.com/blugelabs/bluge/analysis/lang/eu"
	"github.com/blugelabs/bluge/analysis/lang/fa"
	"github.com/blugelabs/bluge/analysis/lang/fi"
	"github.com/blugelabs/bluge/analysis/lang/fr"
	"github.com/blugelabs/bluge/analysis/lang/ga"
	"github.com/blugelabs/bluge/analysis/lang/gl"
	"github.com/blugelabs/bluge/analysis/lang/hi"
	"github.com/blugelabs/bluge/analysis/lang/hu"
	"github.com/blugelabs/bluge/analysis/lang/hy"
	"github.com/blugelabs/bluge/analysis/lang/id"
	"github.com/blugelabs/bluge/analysis/lang/it"
	"github.com/blugelabs/bluge/analysis/lang/nl"
	"github.com/blugelabs/bluge/analysis/lang/no"
	"github.com/blugelabs/bluge/analysis/lang/pt"
	"github.com/blugelabs/bluge/analysis/lang/ro"
	"github.com/blugelabs/bluge/analysis/lang/ru"
	"github.com/blugelabs/bluge/analysis/lang/sv"
	"github.com/blugelabs/bluge/analysis/lang/tr"
)

// stopWords has for each language a function that returns its stop words, folded (see fold): those of
// bluge's list, and interrogatives.
var stopWords = map[string]func() StopWords{
	"ar": stopList("ar", ar.StopWords), "bg": stopList("bg", bg.StopWords), "ca": stopList("ca", ca.StopWords),
	"ckb": stopList("ckb", ckb.StopWords), "cs": stopList("cs", cs.StopWords), "da": stopList("da", da.StopWords),
	"de": stopList("de", de.StopWords), "el": stopList("el", el.StopWords), "en": stopList("en", en.StopWords),
	"es": stopList("es", es.StopWords), "eu": stopList("eu", eu.StopWords), "fa": stopList("fa", fa.StopWords),
	"fi": stopList("fi", fi.StopWords), "fr": stopList("fr", fr.StopWords), "ga": stopList("ga", ga.StopWords),
	"gl": stopList("gl", gl.StopWords), "hi": stopList("hi", hi.StopWords), "hu": stopList("hu", hu.StopWords),
	"hy": stopList("hy", hy.StopWords), "id": stopList("id", id.StopWords), "it": stopList("it", it.StopWords),
	"nl": stopList("nl", nl.StopWords), "no": stopList("no", no.StopWords), "pl": stopList("pl", nil),
	"pt": stopList("pt", pt.StopWords), "ro": stopList("ro", ro.StopWords), "ru": stopList("ru", ru.StopWords),
	"sv": stopList("sv", sv.StopWords), "tr": stopList("tr", tr.StopWords), "uk": stopList("uk", nil),
}

// stopList returns a function that makes the list of a language, given by its BCP 47 code, when it is first
// called. The parameter load returns bluge's list, and is nil if bluge has none. Words with apostrophes are
// divided as in texts: don't gives don and t.
func stopList(code string, load func() analysis.TokenMap) func() StopWords {
	return sync.OnceValue(func() StopWords {
		all := make(StopWords)
		for word := range strings.FieldsSeq(interrogatives[code]) {
			all[fold(word)] = true
		}
		if load == nil {
			return all
		}
		for word := range load() {
			for _, part := range strings.FieldsFunc(word, func(r rune) bool { return r == '\'' || r == '’' }) {
				all[fold(strings.ToLower(part))] = true
			}
		}
		return all
	})
}

// StopWords are the stop words of a language: words such as the, of, what or you, which say little about what a text
// is about. The words are folded (see fold).
type StopWords map[string]bool

// StopWordsOf returns the stop words of the language of a BCP 47 tag; none if there is no list for the language.
func StopWordsOf(tag string) StopWords {
	code, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if same, is := aliases[code]; is {
		code = same
	}
	if list := stopWords[code]; list != nil {
		return list()
	}
	return nil
}

// Has reports whether a word is one of the stop words. The word must be in lower case and NFKC, as Word.Text is.
func (s StopWords) Has(word string) bool { return s[fold(word)] }
