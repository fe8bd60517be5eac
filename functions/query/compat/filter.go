package compat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// condition is a comparison of an attribute with a value.
type condition struct {
	attribute string
	operator  string // =, !=, <, <=, > or >=; another one is not understood, such as exists
	value     string
}

// String returns the condition as an expression has it.
func (c condition) String() string { return c.attribute + " " + c.operator + " " + c.value }

// alternatives are conditions of which at least one must hold (OR). A filter is a list of alternatives, all
// of which must hold (AND).
type alternatives []condition

// conditionOf reads a condition such as lang:en. A minus before the value means that the attribute must not
// have this value: lang:-en.
func conditionOf(text string) condition {
	attribute, value, _ := strings.Cut(text, ":")
	c := condition{strings.TrimSpace(attribute), "=", strings.TrimSpace(value)}
	if negated, is := strings.CutPrefix(c.value, "-"); is {
		c.operator, c.value = "!=", negated
	}
	return c
}

// opposites of the operators.
var opposites = map[string]string{"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// columnOf gives the name of a facet in package search for each attribute that filters and facets of the front
// ends may have. All of these facets but Year are also filters.
var columnOf = map[string]string{
	"site": search.Site, "lang": search.Lang, "language": search.Lang, "collection": search.Collection, "type": search.Type, "year": search.Year,
}

// narrow adds a filter to a query. It returns a note for each part of the filter that it cannot add.
func narrow(q *engine.Query, filter []alternatives) (notes []string) {
	for _, either := range filter {
		if !addValues(q, either) && !(len(either) == 1 && (exclude(q, either[0]) || bound(q, either[0]) || ofYear(q, either[0]))) {
			var texts []string
			for _, c := range either {
				texts = append(texts, c.String())
			}
			notes = append(notes, fmt.Sprintf("The filter %.200s has no meaning here, and was ignored.", strings.Join(texts, " OR ")))
		}
	}
	return notes
}

// addValues adds to a query that a column has one of several values. It reports whether it could: not if the
// alternatives are for several columns, or have another operator than =, or if the query already has a
// filter by the column. It also reports true if that filter is the same single value.
func addValues(q *engine.Query, either alternatives) bool {
	column := columnOf[either[0].attribute]
	values := map[string]*[]string{search.Site: &q.Site, search.Lang: &q.Lang, search.Collection: &q.Collection, search.Type: &q.Type}[column]
	if values == nil || len(*values) > 0 {
		return values != nil && len(either) == 1 && either[0].operator == "=" && len(*values) == 1 && (*values)[0] == either[0].value
	}
	var wanted []string
	for _, c := range either {
		if columnOf[c.attribute] != column || c.operator != "=" || c.value == "" {
			return false
		}
		wanted = append(wanted, c.value)
	}
	*values = wanted
	return true
}

// exclude adds to a query that a column does not have a value. It reports whether it could: the operator
// must be !=, and the value must be one that can be written in the text of a query.
func exclude(q *engine.Query, c condition) bool {
	column := columnOf[c.attribute]
	if column == "" || column == search.Year || c.operator != "!=" || c.value == "" || strings.ContainsFunc(c.value, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`"()|`, r) }) {
		return false
	}
	q.Text = strings.TrimSpace(q.Text + " -" + column + ":" + c.value)
	return true
}

// bound adds a condition for the date of pages to a query. The value is a day such as 2026-01-31. It reports
// whether it could: not if the query already has such a bound. The fields of the query mean "on this day or
// later" (After) and "before this day" (Before). So for the operators > and <=, the bound is the next day.
// Example: date <= 2026-01-31 becomes Before = 2026-02-01.
func bound(q *engine.Query, c condition) bool {
	day, err := literal.Time("date", c.value)
	if err != nil || c.attribute != "date" || day.IsZero() {
		return false
	}
	next := day.AddDate(0, 0, 1)
	switch {
	case c.operator == ">=" && q.After.IsZero():
		q.After = day
	case c.operator == ">" && q.After.IsZero():
		q.After = next
	case c.operator == "<" && q.Before.IsZero():
		q.Before = day
	case c.operator == "<=" && q.Before.IsZero():
		q.Before = next
	default:
		return false
	}
	return true
}

// ofYear changes a query so that it finds only pages whose date is in a year, for a condition such as year = 2026.
// If the query has a bound of the date already, ofYear changes nothing and returns false.
func ofYear(q *engine.Query, c condition) bool {
	start, err := time.Parse("2006", c.value)
	if err != nil || columnOf[c.attribute] != search.Year || c.operator != "=" {
		return false
	}
	end := start.AddDate(1, 0, 0)
	if q.After.IsZero() && q.Before.IsZero() {
		q.After, q.Before = start, end
	}
	return q.After.Equal(start) && q.Before.Equal(end)
}

// facetsOf returns the columns whose values are counted for the given attributes, and a note for each
// attribute that cannot be counted. The attribute * stands for all columns.
func facetsOf(attributes []string) (columns, notes []string) {
	for _, name := range attributes {
		switch column := columnOf[name]; {
		case name == "*":
			columns = append(columns, search.Site, search.Lang, search.Collection, search.Type, search.Year)
		case column != "":
			columns = append(columns, column)
		default:
			notes = append(notes, fmt.Sprintf("There is no facet %.40q; there are site, lang, collection, type and year.", name))
		}
	}
	slices.Sort(columns)
	return slices.Compact(columns), notes
}
