package web

import (
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// filterNames are the filters of a page of results that have values, such as lang=de.
var filterNames = []string{search.Site, search.Lang, search.Type, search.Collection}

// facetNames are the facets of a page of results, in the order in which they are shown.
var facetNames = []string{search.Site, search.Lang, search.Type, search.Year, search.Collection}

// valuesShown is the greatest number of values of a facet that are shown.
const valuesShown = 8

// facetView is a list of links, each of which narrows the results down to a value, such as a language.
type facetView struct {
	Name     string // name of the facet, which is also the key of its message
	Estimate bool   // whether the counts are estimates
	Values   []valueView
}

// valueView is a value of a facet, with the number of matching pages that have it.
type valueView struct {
	Value   string
	Pages   int
	Address string // address of the results that have the value
}

// chip is a filter in force, and the address of the results without it.
type chip struct {
	Name, Value string    // Value is "" if the filter is one bound of a period
	Time        time.Time // bound of a filter by time
	Address     string
}

// filterOf returns the field of the query that has the values of the filter with this name, which is one of
// filterNames.
func filterOf(q *engine.Query, name string) *[]string {
	switch name {
	case search.Site:
		return &q.Site
	case search.Lang:
		return &q.Lang
	case search.Type:
		return &q.Type
	}
	return &q.Collection
}

// facetsOf returns the facets of a result that have more than one value, as links that narrow the results
// down. Results that are images have no facets, because facets count pages. A facet is left out if the query
// already has a filter by it in its words, such as site:example.org: a second value would then be an
// alternative to the first, and add results.
func facetsOf(q engine.Query, found engine.Result) (views []facetView) {
	for _, facet := range found.Facets {
		if found.Images || strings.Contains(strings.ToLower(q.Text), facet.Name+":") {
			continue
		}
		view := facetView{Name: facet.Name, Estimate: facet.Sampled}
		for _, count := range facet.Values {
			if count.Value == "" || len(view.Values) == valuesShown {
				continue
			}
			view.Values = append(view.Values, valueView{count.Value, count.Documents, pageAddress(narrowed(q, facet.Name, count.Value), 0)})
		}
		if len(view.Values) > 1 {
			views = append(views, view)
		}
	}
	return views
}

// narrowed returns a copy of a query that finds only the results with one value of a facet. A year is applied as a
// period. For example, a query with after=2026-05-01, narrowed to the year 2026, has after=2026-05-01 and
// before=2027-01-01.
func narrowed(q engine.Query, facet, value string) engine.Query {
	if facet != search.Year {
		*filterOf(&q, facet) = []string{value}
		return q
	}
	if start, err := time.Parse("2006", value); err == nil {
		if q.After.Before(start) {
			q.After = start
		}
		if end := start.AddDate(1, 0, 0); q.Before.IsZero() || q.Before.After(end) {
			q.Before = end
		}
	}
	return q
}

// yearOf returns the year, such as "2026", if the period of the query (After and Before) is exactly this year;
// otherwise "".
func yearOf(q engine.Query) string {
	start := time.Date(q.After.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	if q.After.IsZero() || !q.After.Equal(start) || !q.Before.Equal(start.AddDate(1, 0, 0)) {
		return ""
	}
	return start.Format("2006")
}

// chipsOf returns the filters of a query that its parameters set. Filters within its words, such as
// site:example.org, are not among them.
func chipsOf(q engine.Query) (chips []chip) {
	for _, name := range filterNames {
		for i, value := range *filterOf(&q, name) {
			without := q
			*filterOf(&without, name) = slices.Delete(slices.Clone(*filterOf(&q, name)), i, i+1)
			chips = append(chips, chip{Name: name, Value: value, Address: pageAddress(without, 0)})
		}
	}
	year := yearOf(q)
	if year != "" {
		without := q
		without.After, without.Before = time.Time{}, time.Time{}
		chips = append(chips, chip{Name: search.Year, Value: year, Address: pageAddress(without, 0)})
	}
	for _, bound := range []struct {
		name string
		of   func(*engine.Query) *time.Time
	}{
		{"after", func(q *engine.Query) *time.Time { return &q.After }},
		{"before", func(q *engine.Query) *time.Time { return &q.Before }},
		{"as of", func(q *engine.Query) *time.Time { return &q.AsOf }},
	} {
		if at := *bound.of(&q); !at.IsZero() && (year == "" || bound.name == "as of") {
			without := q
			*bound.of(&without) = time.Time{}
			chips = append(chips, chip{Name: bound.name, Time: at, Address: pageAddress(without, 0)})
		}
	}
	return chips
}
