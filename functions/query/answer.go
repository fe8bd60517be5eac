package query

import (
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Answer is the JSON of a search.
type Answer struct {
	Total      int       `json:"total"`
	TotalExact bool      `json:"total_exact"`
	TookMillis float64   `json:"took_ms"`
	Incomplete bool      `json:"incomplete,omitempty"` // a part of the index is missing
	Results    []Snippet `json:"results"`
}

// Snippet is one result of an Answer.
type Snippet struct {
	URL     string    `json:"url"`
	Title   string    `json:"title"`
	Snippet string    `json:"snippet"`
	Score   float64   `json:"score"`
	Lang    string    `json:"lang"`
	Fetched time.Time `json:"fetched"`
}

// Answer returns the JSON's form of a result.
func (r Result) Answer() Answer {
	answer := Answer{
		Total:      r.Total,
		TotalExact: r.Exact,
		TookMillis: float64(r.Took.Microseconds()) / 1000,
		Incomplete: r.Incomplete,
		Results:    make([]Snippet, 0, len(r.Hits)),
	}
	for _, hit := range r.Hits {
		answer.Results = append(answer.Results, Snippet{
			URL: hit.URL, Title: hit.Title, Snippet: plain(hit.Snippet),
			Score: hit.Score, Lang: hit.Lang, Fetched: hit.Fetched,
		})
	}
	return answer
}

// plain joins fragments without their marks.
func plain(fragments []segment.Fragment) string {
	var b strings.Builder
	for _, f := range fragments {
		b.WriteString(f.Text)
	}
	return b.String()
}
