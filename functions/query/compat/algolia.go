package compat

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// algoliaHits is the default number of records on a page of results.
const algoliaHits = 20

// newestSuffix is the end of an index name with which the newest pages come first, such as docs_date_desc.
const newestSuffix = "_date_desc"

// withoutEffect are parameters of Algolia that would change which records are found, but are not supported
// here. An answer names those that a request has.
var withoutEffect = []string{
	"numericFilters", "tagFilters", "optionalFilters", "aroundLatLng", "insideBoundingBox", "insidePolygon", "restrictSearchableAttributes", "length", "offset",
}

// algoliaProblem is an error.
type algoliaProblem struct {
	Message string `json:"message"`
	Status  int    `json:"status"` // HTTP status code
}

func algoliaFailure(f request.Failure) any { return algoliaProblem{f.Sentence, f.Status} }

// algoliaAnswer is the answer to a search.
type algoliaAnswer struct {
	Hits             []algoliaHit              `json:"hits"`
	NbHits           int                       `json:"nbHits"` // number of records found
	Page             int                       `json:"page"`   // number of the page of results, from 0 on
	NbPages          int                       `json:"nbPages"`
	HitsPerPage      int                       `json:"hitsPerPage"`
	ExhaustiveNbHits bool                      `json:"exhaustiveNbHits"` // whether NbHits is exact
	ExhaustiveFacets *bool                     `json:"exhaustiveFacetsCount,omitempty"`
	Facets           map[string]map[string]int `json:"facets,omitempty"`
	Query            string                    `json:"query"`
	Params           string                    `json:"params"` // the parameters, as JSON: only for people
	Index            string                    `json:"index"`
	ProcessingTimeMS int64                     `json:"processingTimeMS"`
	Message          string                    `json:"message,omitempty"` // sentences about what was cut or ignored
}

// algoliaQueries answers several searches. Each search is a JSON object whose members are parameters. A
// member params may have further parameters in one text, written as in an address: query=a&page=1.
func (c *compat) algoliaQueries(w http.ResponseWriter, r *http.Request) (any, error) {
	var body struct {
		Requests []parameters `json:"requests"`
	}
	if err := readBody(w, r, &body); err != nil {
		return nil, err
	}
	reader := request.Languages(r)
	results, err := searchAll(c, r, body.Requests, func(ctx context.Context, p parameters) (algoliaAnswer, error) {
		index, err := p.text("indexName", "")
		if err != nil {
			return algoliaAnswer{}, err
		}
		return c.algolia(ctx, p, index, reader)
	})
	return map[string]any{"results": results}, err
}

// algoliaQuery answers one search.
func (c *compat) algoliaQuery(w http.ResponseWriter, r *http.Request) (any, error) {
	var p parameters
	if err := readBody(w, r, &p); err != nil {
		return nil, err
	}
	return c.algolia(r.Context(), p, r.PathValue("index"), request.Languages(r))
}

// algolia answers a search.
func (c *compat) algolia(ctx context.Context, p parameters, index string, reader []string) (algoliaAnswer, error) {
	p, err := withParams(p)
	if err != nil {
		return algoliaAnswer{}, err
	}
	if kind, err := p.text("type", "default"); err != nil || kind == "facet" {
		return algoliaAnswer{}, request.WrongIn("type", "Values of facets cannot be searched here; leave out the search box of the menu.")
	}
	a, page, err := readAlgolia(p)
	if err != nil {
		return algoliaAnswer{}, err
	}
	a.reader = reader
	a.index, a.byDate = strings.CutSuffix(index, newestSuffix)
	tags, err := readTags(p, "<em>", "</em>")
	if err != nil {
		return algoliaAnswer{}, err
	}
	crops, ellipsis, err := readSnippets(p)
	if err != nil {
		return algoliaAnswer{}, err
	}
	result, err := c.find(ctx, a)
	if err != nil {
		return algoliaAnswer{}, err
	}
	written, err := json.Marshal(p)
	if err != nil {
		return algoliaAnswer{}, err
	}
	answer := algoliaAnswer{
		Hits: []algoliaHit{}, NbHits: result.total, Page: page, HitsPerPage: a.size, ExhaustiveNbHits: result.exact, Query: a.text,
		Params: string(written), Index: index, ProcessingTimeMS: result.took.Milliseconds(), Message: result.message(),
	}
	if a.size > 0 {
		answer.NbPages = (min(result.total, maxDeep) + a.size - 1) / a.size
	}
	if len(a.facets) > 0 {
		exact := !result.sampled
		answer.Facets, answer.ExhaustiveFacets = result.facets, &exact
	}
	words := wordsIn(a.text)
	for i := range result.records {
		answer.Hits = append(answer.Hits, algoliaHitOf(&result.records[i], tags, crops, ellipsis, words))
	}
	return answer, nil
}

// withParams returns the parameters p together with those in the member params of p. A parameter that is in
// both has its value in p.
func withParams(p parameters) (parameters, error) {
	written, err := p.text("params", "")
	if err != nil {
		return nil, request.WrongIn("params", "params is %.60s; write a text such as query=words&page=1.", p["params"])
	}
	all, err := fromAddress(written, "query", "filters", "highlightPreTag", "highlightPostTag", "snippetEllipsisText")
	if err != nil {
		return nil, err
	}
	for name, raw := range p {
		if name != "params" {
			all[name] = raw
		}
	}
	return all, nil
}

// readAlgolia reads a search, and the number of the page of results.
func readAlgolia(p parameters) (a asked, page int, err error) {
	if a.text, err = p.text("query", ""); err != nil {
		return a, 0, err
	}
	var cut bool
	if a.size, cut, err = p.number("hitsPerPage", algoliaHits, maxRecords); err != nil {
		return a, 0, err
	}
	if cut {
		a.note("hitsPerPage is %d at most.", maxRecords)
	}
	if page, _, err = p.number("page", 0, maxDeep); err != nil {
		return a, 0, err
	}
	a.from = page * a.size
	if a.facets, err = p.list("facets"); err != nil {
		return a, 0, err
	}
	expression, err := p.text("filters", "")
	if err != nil {
		return a, 0, err
	}
	if a.filter, err = parseExpression(expression); err != nil {
		return a, 0, request.WrongIn("filters", "filters cannot be read: %v.", err)
	}
	nested, err := p.nested("facetFilters")
	if err != nil {
		return a, 0, err
	}
	for _, texts := range nested {
		var either alternatives
		for _, text := range texts {
			either = append(either, conditionOf(text))
		}
		a.filter = append(a.filter, either)
	}
	for _, name := range []string{"attributesToRetrieve", "attributesToSnippet", "attributesToHighlight"} {
		names, err := p.list(name)
		if err != nil {
			return a, 0, err
		}
		a.sections = a.sections || slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "hierarchy") })
	}
	if ignored := p.others(withoutEffect...); len(ignored) > 0 {
		a.note("Here these parameters have no effect: %s.", strings.Join(ignored, ", "))
	}
	return a, page, nil
}

// readTags reads the tags that highlight words.
func readTags(p parameters, pre, post string) (h highlighter, err error) {
	if h.pre, err = p.text("highlightPreTag", pre); err != nil {
		return h, err
	}
	if h.post, err = p.text("highlightPostTag", post); err != nil {
		return h, err
	}
	if len(h.pre) > maxTag || len(h.post) > maxTag {
		return h, request.WrongIn("highlightPreTag", "A tag that highlights words has at most %d bytes.", maxTag)
	}
	return h, nil
}
