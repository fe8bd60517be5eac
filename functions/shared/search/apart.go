package search

import (
	"strings"
	"unicode"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// addApart adds to each plain word of the query that is written like HttpClient (see apart) its parts as a synonym:
// a page that has http and client next to each other has the word, too, with a lower score.
func (p *plan) addApart() {
	for _, together := range p.plain {
		for _, w := range together.words {
			text := apart(w.text)
			if text == w.text || w.expands() || len(p.alternatives) == maxAlternatives {
				continue
			}
			p.addAlternative(text, analysis.Query(text, p.analyzers), []*queryWord{w}, p.weights.Joined)
		}
	}
}

// setApart changes words such as HttpClient in the clauses to Http-Client (see apart), so that they are also
// searched by their parts. The result any says whether a word was changed.
func setApart(clauses []clause) (any bool) {
	for i := range clauses {
		c := &clauses[i]
		if c.filter == "" {
			text := apart(c.text)
			any, c.text = any || text != c.text, text
		}
		for _, alternative := range c.any {
			any = setApart(alternative) || any
		}
	}
	return any
}

// apart puts a hyphen before each capital letter that begins a part of a word:
//
//	HttpClient     Http-Client
//	XMLReader      XML-Reader
//	getHTTPProxy   get-HTTP-Proxy
//	HTTP, Client   unchanged
func apart(text string) string {
	var out strings.Builder
	letters := []rune(text)
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) {
			before := letters[i-1]
			begins := unicode.IsUpper(before) && i+1 < len(letters) && unicode.IsLower(letters[i+1])
			if unicode.IsLower(before) || begins {
				out.WriteByte('-')
			}
		}
		out.WriteRune(r)
	}
	return out.String()
}
