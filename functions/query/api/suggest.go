package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// Suggest is the path at which the script of the search page asks for suggestions. It is answered like
// /v1/suggest, but never needs a key, because the search page needs none.
const Suggest = "/suggest"

// usualSuggestions is the default of the parameter n of /v1/suggest.
const usualSuggestions = 8

// Suggestions are the answer to a request for suggestions.
type Suggestions struct {
	Text        string       `json:"text"` // what was typed
	Suggestions []Suggestion `json:"suggestions"`
}

// Suggestion is offered to somebody who is typing a query.
type Suggestion struct {
	Text string `json:"text"`
	// address of the page whose title Text is; "" if Text is a query: a title of several pages, a
	// heading, or a word
	URL   string `json:"url,omitempty"`
	Pages int    `json:"pages"` // about the number of pages that have the text
}

// The formats of suggestions, besides asJSON.
const asOpenSearch = "opensearch" // the list of lists that browsers read (OpenSearch Suggestions 1.1)

// suggestParameters are the parameters of /v1/suggest.
var suggestParameters = []string{"q", "n", "site", "lang", "collection", "format"}

// suggest answers a request for titles, headings, texts of links and words that continue what is typed.
func (a *api) suggest(w http.ResponseWriter, r *http.Request, values url.Values) error {
	n, err := request.Number(values, "n", usualSuggestions, 1, search.MaxSuggestions)
	if err != nil {
		return err
	}
	format := values.Get("format")
	if format != "" && format != asJSON && format != asOpenSearch {
		return request.WrongIn("format", "%v.", literal.Wrong("format", format, "json or opensearch"))
	}
	typed := strings.ToValidUTF8(values.Get("q"), "\uFFFD")
	found, err := a.engine.Suggest(r.Context(), search.Suggesting{Text: typed, Size: n, Site: values["site"], Lang: values["lang"], Collection: values["collection"]})
	if err != nil {
		return err
	}
	answer := Suggestions{Text: typed, Suggestions: make([]Suggestion, len(found))}
	for i, s := range found {
		answer.Suggestions[i] = Suggestion(s)
	}
	media := "application/json"
	content, err := reply.Marshal(answer, false)
	if format == asOpenSearch {
		media = "application/x-suggestions+json"
		content, err = forBrowsers(answer)
	}
	if err != nil {
		return err
	}
	write(w, r, media, content, content)
	return nil
}

// forBrowsers returns suggestions in the format asOpenSearch: an array of what was typed, the texts, their
// descriptions (all "") and their addresses.
func forBrowsers(of Suggestions) ([]byte, error) {
	texts, descriptions, addresses := []string{}, []string{}, []string{}
	for _, s := range of.Suggestions {
		texts, descriptions, addresses = append(texts, s.Text), append(descriptions, ""), append(addresses, s.URL)
	}
	return json.Marshal([]any{of.Text, texts, descriptions, addresses})
}
