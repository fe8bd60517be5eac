package search

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// addApart adds to each plain word of the query that is written like HttpClient (see apart) its parts as a synonym:
// a page that has http and client next to each other has the word, too, with a lower score. Words of more than
// mostNeighbours parts are left out.
func (p *plan) addApart() {
	left := 0
	for _, together := range p.plain {
		for _, w := range together.words {
			written, _, _ := strings.Cut(w.text, " OR ") // what follows are its synonyms
			text := apart(written)
			if text == written || w.expands() {
				continue
			}
			analysed := analysis.Query(text, p.analyzers)
			if len(withoutJoined(analysed)) > mostNeighbours {
				continue
			}
			if len(p.alternatives) == maxAlternatives {
				left++
				continue
			}
			p.addAlternative(text, analysed, []*queryWord{w}, p.weights.Joined)
		}
	}
	if left > 0 {
		p.notes = append(p.notes, fmt.Sprintf("Of the words such as HttpClient, %d were not searched by their parts.", left))
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
