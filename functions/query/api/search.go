package api

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// Answer is the answer to a search as the API writes it in JSON. It extends the answer of the engine by
// members for programs.
type Answer struct {
	Query Asked `json:"query"` // the search as it was read
	engine.Answer
	Results []Result `json:"results,omitzero"` // replaces the member of engine.Answer
	// paths on this server of the next and the previous page of results; "" if there is none
	Next     string `json:"next,omitempty"`
	Previous string `json:"previous,omitempty"`
}

// Asked is a search as it was read from the parameters of a request. Filters within the text of the
// query, such as site:example.org, are a part of Text.
type Asked struct {
	Text       string    `json:"text"`
	Site       []string  `json:"site,omitempty"`
	Lang       []string  `json:"lang,omitempty"`
	Collection []string  `json:"collection,omitempty"`
	Type       []string  `json:"type,omitempty"`
	After      time.Time `json:"after,omitzero"`
	Before     time.Time `json:"before,omitzero"`
	AsOf       time.Time `json:"asof,omitzero"`
	Across     []string  `json:"across,omitempty"` // languages into which the query is translated
	Sort       string    `json:"sort,omitempty"`   // "date" if the newest pages come first
	From       int       `json:"from"`             // number of results before the first one, so 0 on the first page
	N          int       `json:"n"`                // greatest number of results on a page
}

// Result is one result of an Answer.
type Result struct {
	engine.Snippet
	Marks Marks `json:"marks"`
	// title and snippet as HTML, in which <mark> encloses what Marks has; only with highlight=html
	TitleHTML   string `json:"title_html,omitempty"`
	SnippetHTML string `json:"snippet_html,omitempty"`
}

// The formats of an answer to a search, besides the feeds.
const (
	asJSON  = "json"
	asLines = "ndjson" // one JSON object on each line: first the Answer without its results, then each Result
)

var formats = []string{asJSON, asLines, asAtom, asRSS}

// searchParameters are the parameters of /v1/search.
var searchParameters = slices.Concat(request.SearchParameters, []string{"highlight", "format"})

// search answers a request for a search.
func (a *api) search(w http.ResponseWriter, r *http.Request, values url.Values) error {
	format := cmp.Or(values.Get("format"), asJSON)
	if !slices.Contains(formats, format) {
		return request.WrongIn("format", "%v.", literal.Wrong("format", format, "json, ndjson, atom or rss"))
	}
	answer, err := a.find(r.Context(), values, request.Languages(r), r.URL.Path)
	if err != nil {
		return err
	}
	return writeAnswer(w, r, answer, format)
}

// writeAnswer answers a request with an answer in one of the formats.
func writeAnswer(w http.ResponseWriter, r *http.Request, answer Answer, format string) error {
	if answer.Partial || answer.Cost != nil {
		w.Header().Set("Cache-Control", "no-store") // the same request may be answered better, or at another cost
	}
	if format == asAtom || format == asRSS {
		return writeFeed(w, r, answer, format)
	}
	content, err := marshal(answer, format)
	if err != nil {
		return err
	}
	answer.TookMillis, answer.Cost = 0, nil
	tag, err := marshal(answer, format)
	if err != nil {
		return err
	}
	media := "application/json"
	if format == asLines {
		media = "application/x-ndjson"
	}
	write(w, r, media, content, tag)
	return nil
}

// marshal returns an answer as asJSON or asLines.
func marshal(answer Answer, format string) ([]byte, error) {
	if format == asJSON {
		return reply.Marshal(answer, false)
	}
	results := answer.Results
	answer.Results = nil
	var lines bytes.Buffer
	head, err := reply.Marshal(answer, false)
	if err != nil {
		return nil, err
	}
	lines.Write(head)
	for _, result := range results {
		line, err := reply.Marshal(result, false)
		if err != nil {
			return nil, err
		}
		lines.Write(line)
	}
	return lines.Bytes(), nil
}

// find searches. The parameter values has the parameters of /v1/search except format; reader has the
// languages of the reader (see request.Read). The paths Answer.Next and Answer.Previous begin with path.
func (a *api) find(ctx context.Context, values url.Values, reader []string, path string) (Answer, error) {
	q, err := a.read(values, reader)
	if err != nil {
		return Answer{}, err
	}
	highlight := values.Get("highlight")
	if highlight != "" && highlight != "html" {
		return Answer{}, request.WrongIn("highlight", "%v.", literal.Wrong("highlight", highlight, "html, or leave it out"))
	}
	found, err := a.engine.Search(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Query: asked(q), Answer: found.Answer()}
	answer.Results = make([]Result, len(found.Hits))
	for i, hit := range found.Hits {
		answer.Results[i] = Result{Snippet: answer.Answer.Results[i], Marks: Marks{spans(hit.MarkedTitle), spans(hit.Snippet)}}
		if highlight != "" {
			answer.Results[i].TitleHTML, answer.Results[i].SnippetHTML = marked(hit.MarkedTitle), marked(hit.Snippet)
		}
	}
	answer.Next, answer.Previous = neighbours(path, values, q, found.Total, found.Exact)
	return answer, nil
}

// read reads a search that has a query.
func (a *api) read(values url.Values, reader []string) (engine.Query, error) {
	q, err := request.Read(values, reader, a.engine.Now())
	if err == nil && q.Text == "" {
		err = request.WrongIn("q", "The query is missing; ask like /v1/search?q=words.")
	}
	return q, err
}

func asked(q engine.Query) Asked {
	sorted := ""
	if q.ByDate {
		sorted = "date"
	}
	return Asked{
		Text: q.Text, Site: q.Site, Lang: q.Lang, Collection: q.Collection, Type: q.Type,
		After: q.After, Before: q.Before, AsOf: q.AsOf, Across: q.Across.Into, Sort: sorted, From: q.From, N: q.Size,
	}
}

// neighbours returns the paths of the next and the previous page of results: path with the parameters values
// and another from. A path is "" if there is no such page. If exact is false, total is not the exact number
// of matches, and the next page may be empty.
func neighbours(path string, values url.Values, q engine.Query, total int, exact bool) (next, previous string) {
	at := func(from int) string {
		turned := url.Values{}
		for name, all := range values {
			turned[name] = all
		}
		turned.Set("from", strconv.Itoa(from))
		if from == 0 {
			turned.Del("from")
		}
		return path + "?" + turned.Encode()
	}
	if (q.From+q.Size < total || !exact) && q.From+2*q.Size <= q.Most() {
		next = at(q.From + q.Size)
	}
	if q.From > 0 && total > 0 {
		last := (total - 1) / q.Size * q.Size
		previous = at(max(0, min(q.From-q.Size, last)))
	}
	return next, previous
}
