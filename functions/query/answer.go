package query

import (
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// Answer is the JSON of a search.
type Answer struct {
	Total      int                 `json:"total"`       // matching pages, or how many were counted
	TotalExact bool                `json:"total_exact"` // whether there are no more
	TookMillis float64             `json:"took_ms"`
	Incomplete bool                `json:"incomplete,omitempty"` // a part of the index is missing
	Partial    bool                `json:"partial,omitempty"`    // time ran out before all was searched
	Notes      []string            `json:"notes,omitempty"`      // what was not done as asked
	Results    []Snippet           `json:"results"`
	Facets     map[string][]Bucket `json:"facets,omitempty"`
	Cost       *meter.Cost         `json:"cost,omitempty"`
}

// Snippet is one result of an Answer.
type Snippet struct {
	URL         string              `json:"url"`
	Title       string              `json:"title"`
	Snippet     string              `json:"snippet"`
	Score       float64             `json:"score"`
	Lang        string              `json:"lang"`
	Type        string              `json:"type"`
	Collections []string            `json:"collections,omitempty"`
	Fetched     time.Time           `json:"fetched"`
	Explanation *search.Explanation `json:"explanation,omitempty"`
}

// Bucket is how many matching pages have a value.
type Bucket struct {
	Value    string `json:"value"`
	Pages    int    `json:"pages"`
	Estimate bool   `json:"estimate,omitempty"` // from a sample of the matches
}

// Answer returns the JSON's form of a result.
func (r Result) Answer() Answer {
	answer := Answer{
		Total:      r.Total,
		TotalExact: r.Exact,
		TookMillis: float64(r.Took.Microseconds()) / 1000,
		Incomplete: r.Incomplete,
		Partial:    r.Partial,
		Notes:      r.Notes,
		Results:    make([]Snippet, 0, len(r.Hits)),
		Cost:       r.Cost,
	}
	for _, hit := range r.Hits {
		answer.Results = append(answer.Results, Snippet{
			URL: hit.URL, Title: hit.Title, Snippet: plain(hit.Snippet), Score: hit.Score, Lang: hit.Lang, Type: hit.MIME,
			Collections: hit.Collections, Fetched: hit.Fetched, Explanation: hit.Explanation,
		})
	}
	for _, facet := range r.Facets {
		if answer.Facets == nil {
			answer.Facets = make(map[string][]Bucket)
		}
		buckets := make([]Bucket, 0, len(facet.Values))
		for _, v := range facet.Values {
			buckets = append(buckets, Bucket{v.Value, v.Documents, facet.Sampled})
		}
		answer.Facets[facet.Name] = buckets
	}
	return answer
}

// plain joins fragments without their marks.
func plain(fragments []search.Fragment) string {
	var b strings.Builder
	for _, f := range fragments {
		b.WriteString(f.Text)
	}
	return b.String()
}
