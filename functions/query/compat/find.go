package compat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

const (
	maxRecords = request.MaxHits // greatest number of records in an answer
	maxDeep    = 1000            // number of records that can be reached by turning pages, as with both services
)

// asked is a search of either service.
type asked struct {
	index      string // name of the index
	text       string
	from, size int
	filter     []alternatives
	facets     []string // attributes that are counted
	byDate     bool
	sections   bool // whether sections of pages are records of their own
	notes      []string
	reader     []string // languages of the reader (see request.Languages)
}

// note adds a sentence for the client.
func (a *asked) note(format string, args ...any) {
	a.notes = append(a.notes, fmt.Sprintf(format, args...))
}

// outcome is the answer to a search.
type outcome struct {
	records []record
	total   int  // number of all records; with sections it is a little less than the true number, unless exact
	exact   bool // whether total is right; if not, there may be more
	facets  map[string]map[string]int
	sampled bool     // whether the counts of facets are estimates
	notes   []string // sentences about what was cut, left out, or ignored
	took    time.Duration
}

// message returns the notes as one text.
func (o *outcome) message() string { return strings.Join(o.notes, " ") }

// find searches, and returns the records of a page of results. If sections are records of their own, a hit
// gives one or more records. Then the first record of the page depends on how many records all earlier hits
// give, so find asks the engine for the earlier hits, too.
func (c *compat) find(ctx context.Context, a asked) (outcome, error) {
	q := engine.Query{Query: search.Query{Text: strings.ToValidUTF8(a.text, "\uFFFD"), All: true, Fold: true, ByDate: a.byDate, Reader: a.reader}}
	answer := outcome{notes: a.notes}
	byCollection, notes, err := c.within(ctx, &q, a.index)
	if err != nil {
		return outcome{}, err
	}
	answer.notes = append(append(answer.notes, notes...), narrow(&q, a.filter)...)
	q.Facets, notes = facetsOf(a.facets)
	answer.notes = append(answer.notes, notes...)
	if size := min(a.size, max(0, maxDeep-a.from)); size < a.size {
		answer.notes = append(answer.notes, fmt.Sprintf("Only the first %d results can be seen.", maxDeep))
		a.size = size
	}
	q.From, q.Size = min(a.from, maxDeep), a.size
	if a.sections && a.size > 0 {
		q.From, q.Size = 0, a.from+a.size
	}
	result, err := c.engine.Search(ctx, q)
	if err != nil {
		return outcome{}, err
	}
	answer.notes = append(answer.notes, result.Sentences()...)
	answer.total, answer.exact, answer.took = result.Total, result.Exact, result.Took
	words := wordsIn(a.text)
	for i := range result.Hits {
		for _, text := range [][]search.Fragment{result.Hits[i].MarkedTitle, result.Hits[i].Snippet} {
			for _, word := range matchesIn(text) {
				words[word] = true
			}
		}
	}
	for i := range result.Hits {
		answer.records = append(answer.records, recordsOf(&result.Hits[i], a.sections, byCollection, words)...)
	}
	if a.sections {
		answer.total += len(answer.records) - len(result.Hits)
		answer.exact = answer.exact && result.Total <= q.Size
		first := min(a.from, len(answer.records))
		answer.records = answer.records[first:min(first+a.size, len(answer.records))]
	}
	answer.count(a.facets, result.Facets)
	return answer, nil
}

// within restricts the query q to the collection whose name is index, if there is one. The result
// byCollection reports whether the name of a page's collection is shown as the page's place (lvl0). This is
// so if several collections are searched; if there is only one, or only one is searched, the place is the
// site.
func (c *compat) within(ctx context.Context, q *engine.Query, index string) (byCollection bool, notes []string, err error) {
	inForce, err := c.engine.Settings.Get(ctx)
	if err != nil {
		return false, nil, err
	}
	var names []string
	for _, collection := range inForce.Collections {
		names = append(names, collection.Name)
	}
	if slices.Contains(names, index) {
		q.Collection = []string{index}
		return false, nil, nil
	}
	several := len(names) > 1
	if several {
		notes = append(notes, fmt.Sprintf("No collection has the name %.40q: all pages were searched.", index))
	}
	return several, notes, nil
}

// count sets o.facets from the facets of the engine, under the names by which the request asks for them.
// Example: the counts of the column lang are under language if the request asks for language.
func (o *outcome) count(attributes []string, facets []search.Facet) {
	o.facets = make(map[string]map[string]int)
	for _, facet := range facets {
		counts := make(map[string]int)
		for _, value := range facet.Values {
			counts[value.Value] = value.Documents
		}
		o.sampled = o.sampled || facet.Sampled
		for _, name := range attributes {
			if name == "*" {
				o.facets[facet.Name] = counts
			} else if columnOf[name] == facet.Name {
				o.facets[name] = counts
			}
		}
	}
}
