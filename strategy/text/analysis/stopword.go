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

// stopWords has for each language a function that returns its stop words, folded (see fold). The
// lists are bluge's.
var stopWords = map[string]func() map[string]bool{
	"ar": stopList(ar.StopWords), "bg": stopList(bg.StopWords), "ca": stopList(ca.StopWords), "ckb": stopList(ckb.StopWords),
	"cs": stopList(cs.StopWords), "da": stopList(da.StopWords), "de": stopList(de.StopWords), "el": stopList(el.StopWords),
	"en": stopList(en.StopWords), "es": stopList(es.StopWords), "eu": stopList(eu.StopWords), "fa": stopList(fa.StopWords),
	"fi": stopList(fi.StopWords), "fr": stopList(fr.StopWords), "ga": stopList(ga.StopWords), "gl": stopList(gl.StopWords),
	"hi": stopList(hi.StopWords), "hu": stopList(hu.StopWords), "hy": stopList(hy.StopWords), "id": stopList(id.StopWords),
	"it": stopList(it.StopWords), "nl": stopList(nl.StopWords), "no": stopList(no.StopWords), "pt": stopList(pt.StopWords),
	"ro": stopList(ro.StopWords), "ru": stopList(ru.StopWords), "sv": stopList(sv.StopWords), "tr": stopList(tr.StopWords),
}

// stopList returns a function that reads a list of stop words when it is first called. Words with
// apostrophes are divided as in texts: don't gives don and t.
func stopList(load func() analysis.TokenMap) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		all := make(map[string]bool)
		for word := range load() {
			for _, part := range strings.FieldsFunc(word, func(r rune) bool { return r == '\'' || r == '’' }) {
				all[fold(strings.ToLower(part))] = true
			}
		}
		return all
	})
}

// IsStopWord reports whether a word is a stop word of the language of a BCP 47 tag: a word such as
// the, of, what or you, which says little about what a text is about. The word must be in lower case
// and NFKC, as Word.Text is. A language without a list has no stop words.
func IsStopWord(tag, word string) bool {
	code, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if same, is := aliases[code]; is {
		code = same
	}
	list := stopWords[code]
	return list != nil && list()[fold(word)]
}
