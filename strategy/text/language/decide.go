package language

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	iso "golang.org/x/text/language"

	"github.com/bucketsearch/bucketsearch/strategy/text/language/internal/model"
)

// Source tells how the language of a page is known; "" if the page declares none and its text
// leaves too much doubt, so that the language is unknown.
type Source string

// The sources of a language.
const (
	Declared Source = "declared" // the page declares the language, and its text does not refute the declaration
	Guessed  Source = "guessed"  // the page declares no language; its text was identified
	// the text refutes the declared language; the language of the page is the one identified from
	// the text
	Overruled Source = "overruled"
)

const (
	provingSure    = .999 // the identified language refutes the declared one only if it has at least this probability
	provingLetters = 200  // in a text with fewer letters, the identified language does not refute the declared one
	scriptLetters  = 20   // in a text with fewer letters, the script does not refute the declared language
)

// Decide returns the language of a page (an ISO 639 code), and how it is known, by the page's text
// and declaration. The parameter declared is the BCP 47 tag that the page declares, or "". A
// declaration stands unless the text clearly proves it false:
//
//	by its script     the text has at least 20 letters, and more than half of them are in a script
//	                  that the declared language does not use; Latin letters prove nothing,
//	                  because any language may be written in them
//	by its language   the text has at least 200 letters, and its words, each taken once, are in
//	                  another language with a probability of at least .999; this proves nothing if
//	                  the two languages are hard to tell apart, as Indonesian and Malay
//
// A declared language that Identify does not know always stands. Each Chinese, Japanese or Korean
// character counts as three letters. The code is "" if the language is unknown, which is also
// possible after a declaration was overruled.
func Decide(text, declared string) (code string, source Source) {
	text = sample(text)
	code = declarable(declared)
	guess, _ := Identify(text)
	switch {
	case code == "" && guess == "":
		return "", ""
	case code == "":
		return guess, Guessed
	case guess == code || !refutes(text, code, guess):
		return code, Declared
	}
	return guess, Overruled
}

// refutes reports whether a text proves that it is not in the declared language (see Decide). The
// parameter guess is the language that Identify returns for the text.
func refutes(text, declared, guess string) bool {
	known := scripts()[declared]
	if known == nil {
		return false
	}
	letters := lettersIn(text)
	if script, share := model.Main(text); script != model.Latin && script != model.None && !slices.Contains(known, script) {
		return letters >= scriptLetters && share > .5
	}
	if letters < provingLetters || alike(declared, guess) {
		return false
	}
	again, sure := Identify(once(text))
	return again == guess && sure >= provingSure
}

// once returns the words of a text, each word once. For Identify, each word is evidence of its own.
// But a word proves no more if it is repeated, as in a list of links "cheap car", "cheap car", ….
func once(text string) string {
	seen := make(map[string]bool)
	var words []string
	for word := range strings.FieldsSeq(text) {
		if !seen[word] {
			seen[word] = true
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// alike reports whether two languages are hard to tell apart.
func alike(a, b string) bool {
	return slices.ContainsFunc([][]string{{"id", "ms"}, {"hr", "sr"}, {"da", "no"}}, func(pair []string) bool {
		return slices.Contains(pair, a) && slices.Contains(pair, b)
	})
}

// lettersIn returns the number of letters of a text, in which each character of Chinese,
// Japanese or Korean counts as three.
func lettersIn(text string) (n int) {
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 3
		case unicode.IsLetter(r):
			n++
		}
	}
	return n
}

// scripts returns the scripts in which a language is written, for each language that Identify may
// return. The key is the language's code.
var scripts = sync.OnceValue(func() map[string][]model.Script {
	// further scripts in which some languages are written; texts in these are never identified as
	// the language
	of := map[string][]model.Script{
		"az": {model.Cyrillic, model.Arabic}, "uz": {model.Cyrillic, model.Arabic}, "kk": {model.Arabic}, "ky": {model.Arabic},
		"tg": {model.Arabic}, "ms": {model.Arabic}, "id": {model.Arabic}, "pa": {model.Arabic}, "ug": {model.Cyrillic},
		"hr": {model.Cyrillic}, "ro": {model.Cyrillic}, "ko": {model.Han},
	}
	add := func(code string, script model.Script) {
		if code != "" {
			of[code] = append(of[code], script)
		}
	}
	for script, code := range onlyLanguage {
		add(code, model.Script(script))
	}
	m := load()
	for script := range m.Scripts {
		for _, code := range m.Scripts[script].Codes {
			add(code, model.Script(script))
		}
	}
	return of
})

// declarable returns the code of the language that a BCP 47 tag names, such as "pt" for pt-BR;
// "" if it names none. If Identify has another code for the language, the result is that code:
// nb becomes no, and the old code iw becomes he.
func declarable(tag string) string {
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	base, err := iso.ParseBase(strings.TrimSpace(tag))
	if err != nil {
		return ""
	}
	switch code := base.String(); code {
	case "und", "mul", "mis", "zxx":
		return ""
	case "in": // the code of before 1989, as of the next two
		return "id"
	case "iw":
		return "he"
	case "ji":
		return "yi"
	case "nb", "nn":
		return "no"
	case "fil":
		return "tl"
	case "bs", "sh":
		return "hr"
	case "cmn", "yue":
		return "zh"
	case "prs":
		return "fa"
	default:
		return code
	}
}
