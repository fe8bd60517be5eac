package api

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// facetParameters are the parameters of /v1/facets: those of a search that decide which pages match, what is
// counted, and how long the search may take.
var facetParameters = []string{"q", "site", "lang", "collection", "type", "after", "before", "asof", "across", "facet", "timeout", "explain"}

// facets counts the pages that match a query by the columns that the parameter facet names. Without this
// parameter, it counts by all columns. The answer has no results.
func (a *api) facets(w http.ResponseWriter, r *http.Request, values url.Values) error {
	q, err := a.read(values, request.Languages(r))
	if err != nil {
		return err
	}
	if q.Explain {
		return request.WrongIn("explain", "Counts have no scores; explain=cost says what they cost.")
	}
	q.Size = 0
	if len(q.Facets) == 0 {
		q.Facets = []string{search.Site, search.Lang, search.Collection, search.Type, search.Year}
	}
	slices.Sort(q.Facets)
	q.Facets = slices.Compact(q.Facets)
	found, err := a.engine.Search(r.Context(), q)
	if err != nil {
		return err
	}
	return writeAnswer(w, r, Answer{Query: asked(q), Answer: found.Answer()}, asJSON)
}
