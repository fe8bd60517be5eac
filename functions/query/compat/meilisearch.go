package compat

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

const (
	meiliHits = 20        // default number of records
	meiliCrop = 10        // default number of words of an attribute that is cropped
	maxCrop   = 1000      // greatest number of words of an attribute that is cropped; texts here are shorter
	apiLevel  = "1.12.0"  // version of Meilisearch whose search is answered
	unknown   = "unknown" // in place of what Meilisearch says of its build
)

// meiliProblem is an error.
type meiliProblem struct {
	Message string `json:"message"`
	Code    string `json:"code"`
	Type    string `json:"type"` // invalid_request, auth or internal
	Link    string `json:"link"` // always "": the message says what to do
}

// meiliCodes are the codes of errors about parameters.
var meiliCodes = map[string]string{
	"q": "invalid_search_q", "limit": "invalid_search_limit", "offset": "invalid_search_offset", "page": "invalid_search_page",
	"hitsPerPage": "invalid_search_hits_per_page", "filter": "invalid_search_filter", "sort": "invalid_search_sort", "facets": "invalid_search_facets",
	"attributesToCrop": "invalid_search_attributes_to_crop", "attributesToHighlight": "invalid_search_attributes_to_highlight",
	"cropLength": "invalid_search_crop_length",
}

func meiliFailure(f request.Failure) any {
	p := meiliProblem{Message: f.Sentence, Code: "bad_request", Type: "invalid_request"}
	switch {
	case meiliCodes[f.Parameter] != "":
		p.Code = meiliCodes[f.Parameter]
	case f.Status == http.StatusUnauthorized:
		p.Code, p.Type = "missing_authorization_header", "auth"
	case f.Status == http.StatusForbidden:
		p.Code, p.Type = "invalid_api_key", "auth"
	case f.Status == http.StatusNotFound:
		p.Code = "not_found"
	case f.Status == http.StatusRequestEntityTooLarge:
		p.Code = "payload_too_large"
	case f.Status == http.StatusTooManyRequests:
		p.Code = "too_many_search_requests"
	case f.Status >= http.StatusInternalServerError:
		p.Code, p.Type = "internal", "internal"
	}
	return p
}

// meiliAnswer is the answer to a search.
type meiliAnswer struct {
	IndexUID         string                    `json:"indexUid,omitempty"` // only for one of several searches
	Hits             []map[string]any          `json:"hits"`
	Query            string                    `json:"query"`
	ProcessingTimeMs int64                     `json:"processingTimeMs"`
	Limit            *int                      `json:"limit,omitempty"` // unless pages of results were asked for
	Offset           *int                      `json:"offset,omitempty"`
	EstimatedTotal   *int                      `json:"estimatedTotalHits,omitempty"`
	HitsPerPage      *int                      `json:"hitsPerPage,omitempty"` // if pages of results were asked for
	Page             *int                      `json:"page,omitempty"`        // from 1 on
	TotalPages       *int                      `json:"totalPages,omitempty"`
	TotalHits        *int                      `json:"totalHits,omitempty"`
	Facets           map[string]map[string]int `json:"facetDistribution,omitempty"`
	FacetStats       map[string]any            `json:"facetStats,omitempty"` // always empty: no facet has numbers
	Message          string                    `json:"message,omitempty"`    // sentences about what was cut or ignored
}

func (c *compat) meiliHealth(http.ResponseWriter, *http.Request) (any, error) {
	return map[string]string{"status": "available"}, nil
}

func (c *compat) meiliVersion(http.ResponseWriter, *http.Request) (any, error) {
	return map[string]string{"commitSha": unknown, "commitDate": unknown, "pkgVersion": apiLevel}, nil
}

// meiliMulti answers several searches.
func (c *compat) meiliMulti(w http.ResponseWriter, r *http.Request) (any, error) {
	var body struct {
		Queries    []parameters `json:"queries"`
		Federation any          `json:"federation"`
	}
	if err := readBody(w, r, &body); err != nil {
		return nil, err
	}
	if body.Federation != nil {
		return nil, request.WrongIn("federation", "Searches are not federated here; leave federation out.")
	}
	results, err := searchAll(c, r, body.Queries, func(ctx context.Context, p parameters) (meiliAnswer, error) {
		index, err := p.text("indexUid", "")
		if err != nil {
			return meiliAnswer{}, err
		}
		answer, err := c.meili(ctx, r, p, index)
		answer.IndexUID = index
		return answer, err
	})
	return map[string]any{"results": results}, err
}

// meiliSearch answers one search, whose parameters are in the body or in the address.
func (c *compat) meiliSearch(w http.ResponseWriter, r *http.Request) (any, error) {
	var p parameters
	var err error
	if r.Method == http.MethodPost {
		err = readBody(w, r, &p)
	} else {
		p, err = fromAddress(r.URL.RawQuery, "q", "filter", "highlightPreTag", "highlightPostTag", "cropMarker")
	}
	if err != nil {
		return nil, err
	}
	return c.meili(r.Context(), r, p, r.PathValue("index"))
}

// meili answers a search.
func (c *compat) meili(ctx context.Context, r *http.Request, p parameters, index string) (meiliAnswer, error) {
	a, page, err := readMeili(p)
	if err != nil {
		return meiliAnswer{}, err
	}
	a.index, a.reader = index, request.Languages(r)
	a.sections = strings.Contains(r.Header.Get("X-Meilisearch-Client"), "docs-searchbar")
	form, err := readForm(p)
	if err != nil {
		return meiliAnswer{}, err
	}
	result, err := c.find(ctx, a)
	if err != nil {
		return meiliAnswer{}, err
	}
	answer := meiliAnswer{Hits: []map[string]any{}, Query: a.text, ProcessingTimeMs: result.took.Milliseconds(), Message: result.message()}
	if reachable := min(result.total, maxDeep); page > 0 {
		pages := 0
		if a.size > 0 {
			pages = (reachable + a.size - 1) / a.size
		}
		answer.HitsPerPage, answer.Page, answer.TotalPages, answer.TotalHits = &a.size, &page, &pages, &reachable
	} else {
		answer.Limit, answer.Offset, answer.EstimatedTotal = &a.size, &a.from, &result.total
	}
	if len(a.facets) > 0 {
		answer.Facets, answer.FacetStats = result.facets, map[string]any{}
	}
	for i := range result.records {
		answer.Hits = append(answer.Hits, form.hit(&result.records[i]))
	}
	return answer, nil
}

// readMeili reads a search, and the number of the page of results from 1 on; 0 if none was asked for.
func readMeili(p parameters) (a asked, page int, err error) {
	if a.text, err = p.text("q", ""); err != nil {
		return a, 0, err
	}
	size := "limit"
	var cut bool
	if p.has("page") || p.has("hitsPerPage") {
		size = "hitsPerPage"
		if page, _, err = p.number("page", 1, maxDeep); err != nil {
			return a, 0, err
		}
	} else if a.from, _, err = p.number("offset", 0, maxDeep); err != nil {
		return a, 0, err
	}
	if a.size, cut, err = p.number(size, meiliHits, maxRecords); err != nil {
		return a, 0, err
	}
	if cut {
		a.note("%s is %d at most.", size, maxRecords)
	}
	if size == "hitsPerPage" {
		page = max(page, 1)
		a.from = (page - 1) * a.size
	}
	if a.facets, err = p.list("facets"); err != nil {
		return a, 0, err
	}
	if a.filter, err = readFilter(p); err != nil {
		return a, 0, err
	}
	orders, err := p.list("sort")
	if err != nil {
		return a, 0, err
	}
	for i, order := range orders {
		if i == 0 && order == "date:desc" {
			a.byDate = true
		} else {
			a.note("The order %.40q is not known; there is date:desc.", order)
		}
	}
	if ignored := p.others("attributesToSearchOn", "distinct", "hybrid", "vector", "rankingScoreThreshold"); len(ignored) > 0 {
		a.note("Here these parameters have no effect: %s.", strings.Join(ignored, ", "))
	}
	return a, page, nil
}

// readFilter reads the parameter filter: an expression, or a list of expressions and lists of alternatives.
func readFilter(p parameters) (filter []alternatives, err error) {
	nested, err := p.nested("filter")
	if err != nil {
		return nil, err
	}
	for _, expressions := range nested {
		var either alternatives
		for _, expression := range expressions {
			parsed, err := parseExpression(expression)
			if err == nil && len(expressions) > 1 && len(parsed) != 1 {
				err = errors.New("an element of a list of alternatives is one condition, without AND")
			}
			if err != nil {
				return nil, request.WrongIn("filter", "The filter cannot be read: %v.", err)
			}
			if len(expressions) == 1 {
				filter = append(filter, parsed...)
			} else {
				either = append(either, parsed[0]...)
			}
		}
		if len(either) > 0 {
			filter = append(filter, either)
		}
	}
	return filter, nil
}
