package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// maxValues is the greatest number of values of all filters of a query together.
const maxValues = 64

// columns maps the name of each filter, which is also a facet, to the column of segments that has its values.
var columns = map[string]string{
	Site: segment.Sites, Lang: segment.Languages, Collection: segment.Collections, Type: segment.Types,
}

const (
	after  = "after"
	before = "before"
	dup    = "dup"
	link   = "link"
)

// isFilter reports whether a name in lower case is one of a filter.
func isFilter(name string) bool {
	return columns[name] != "" || name == after || name == before || name == dup || name == link
}

// otherFilters maps names of filters of other search engines to an example of the filter that does
// the same here; "" if none does.
var otherFilters = map[string]string{
	"filetype": "type:pdf", "ext": "type:pdf", "mime": "type:pdf", "format": "type:pdf", "language": "lang:de", "domain": "site:example.org", "host": "site:example.org",
	"since": "after:2026-01-31", "until": "before:2026-01-31", "date": "after:2026-01-31", "daterange": "after:2026-01-31",
	"title": "intitle:word", "url": "inurl:word", "size": "", "intext": "", "allintext": "", "related": "", "cache": "", "author": "",
}

// misnamed returns a note if the clause is a filter in other search engines, but not in this one;
// else "".
func (c *clause) misnamed() string {
	name, value, found := strings.Cut(c.text, ":")
	instead, known := otherFilters[strings.ToLower(name)]
	if c.filter != "" || c.quoted || !found || !known || value == "" || strings.HasPrefix(value, "//") {
		return ""
	}
	note := fmt.Sprintf("%s: is no filter here, so it was searched as words.", name)
	if instead != "" {
		note += fmt.Sprintf(" Write, for example, %s.", instead)
	}
	return note
}

// filter selects documents. Several values of one filter are alternatives (OR);
// all filters must hold (AND).
type filter struct {
	// demanded and excluded values, by the name of the filter. If the map any has values of a filter, a
	// document must have at least one of them. A document must have none of the values in the map none.
	any, none     map[string][]string
	after, before time.Time // limits of the page's own date; zero: no limit
	links         []*linked // filters link:
	values        int       // number of filters in the query's text so far
	notes         []string  // what was ignored
}

func newFilter(q *Query) filter {
	f := filter{any: map[string][]string{}, none: map[string][]string{}, after: q.After, before: q.Before}
	for name, values := range map[string][]string{Site: q.Site, Lang: q.Lang, Collection: q.Collection, Type: q.Type} {
		for _, value := range values {
			f.any[name] = append(f.any[name], normal(name, value))
		}
	}
	return f
}

// normal returns the form in which values of a filter are compared: in lower case, but the
// names of collections unchanged.
func normal(name, value string) string {
	if name == Collection {
		return value
	}
	return strings.ToLower(value)
}

// add adds a filter of the query's text. If it cannot be obeyed, it is ignored with a note.
func (f *filter) add(c clause) {
	if f.values++; f.values > maxValues {
		f.note("Only the first %d filters of the query were used.", maxValues)
		return
	}
	if c.filter == dup {
		f.note("dup:%s was ignored: write dup:all to see all pages that are alike.", c.text)
		return
	}
	if c.filter == link {
		f.addLink(c)
		return
	}
	if c.filter != after && c.filter != before {
		values := f.any
		if c.sign == '-' {
			values = f.none
		}
		values[c.filter] = append(values[c.filter], normal(c.filter, c.text))
		return
	}
	date, err := parseDate(c.text)
	if err != nil || c.sign == '-' {
		f.note("%s%s:%s was ignored: write a date without a sign, such as after:2026-01-31 or before:2026-01-31.", signOf(c), c.filter, c.text)
		return
	}
	if c.filter == after && (f.after.IsZero() || date.After(f.after)) {
		f.after = date
	}
	if c.filter == before && (f.before.IsZero() || date.Before(f.before)) {
		f.before = date
	}
}

func (f *filter) note(format string, values ...any) {
	if note := fmt.Sprintf(format, values...); !slices.Contains(f.notes, note) {
		f.notes = append(f.notes, note)
	}
}

func signOf(c clause) string {
	if c.sign == 0 {
		return ""
	}
	return string(c.sign)
}

// isUndated reports whether a clause without a sign looks like a filter by date, but has no
// date. An example is before:christ in a sentence.
func (c *clause) isUndated() bool {
	if c.filter != after && c.filter != before || c.sign != 0 {
		return false
	}
	_, err := parseDate(c.text)
	return err != nil
}

func parseDate(text string) (date time.Time, err error) {
	for _, form := range []string{time.DateOnly, "2006-01", "2006", time.RFC3339} {
		if date, err = time.Parse(form, text); err == nil {
			return date, nil
		}
	}
	return date, err
}

// acceptsLanguage reports whether the given language is one of those that the filter demands, or the filter
// demands none. It does not check whether the filter excludes the language.
func (f *filter) acceptsLanguage(name string) bool {
	return len(f.any[Lang]) == 0 || slices.ContainsFunc(f.any[Lang], func(wanted string) bool { return sameValue(Lang, name, wanted) })
}

func (f *filter) dated() bool { return !f.after.IsZero() || !f.before.IsZero() }

func (f *filter) empty() bool { return len(f.any)+len(f.none)+len(f.links) == 0 && !f.dated() }

// names returns the names of the columns that must be read: those of filters that have values, and
// those that the caller needs for something else.
func (f *filter) names(others []string) (names []string) {
	for name := range columns {
		if len(f.any[name])+len(f.none[name]) > 0 || slices.Contains(others, name) {
			names = append(names, name)
		}
	}
	return names
}

// accept returns the documents of a part (segment of the index) that the filter accepts. The parameter strings has
// the columns that the filter needs, by name; it may have more. The parameter dates is needed only if the filter
// is by date. The result undated is the number of pages that the filter leaves out only because they state no
// date.
func (f *filter) accept(p Part, strings map[string]*segment.StringColumn, dates ownDates) (of accept, undated int) {
	if f.empty() {
		return accept{dead: p.Dead}, 0
	}
	of = accept{dead: p.Dead}
	of.keep(p.Segment.Documents())
	allowed := of.allowed
	for name, column := range strings {
		if len(f.any[name])+len(f.none[name]) == 0 { // no filter is on this column; it was read for a facet
			continue
		}
		pass := f.sets(name, column)
		for doc, set := range column.Of {
			if !pass[set] {
				allowed.clear(uint32(doc))
			}
		}
	}
	if !f.dated() {
		return of, 0
	}
	from, to := f.days()
	for doc, day := range dates {
		if from <= uint64(day) && uint64(day) < to {
			continue
		}
		if day == 0 && !p.Unvisited && allowed.next(uint32(doc)) == uint32(doc) {
			undated++
		}
		allowed.clear(uint32(doc))
	}
	return of, undated
}

// days returns the range of days that after: and before: accept: from is the first day of the range, to is the
// first day behind it. Days are numbered as in the column segment.OwnDates. There, a page without a date has the
// number 0, which is in no range, since from is at least 1.
func (f *filter) days() (from, to uint64) {
	day := func(date time.Time) int64 { return (date.UnixMilli() + msOfDay - 1) / msOfDay }
	from, to = 1, math.MaxUint64
	if !f.after.IsZero() {
		from = uint64(max(0, f.after.UnixMilli()/msOfDay)) + 1
	}
	if !f.before.IsZero() {
		to = uint64(max(0, day(f.before))) + 1
	}
	return from, to
}

const msOfDay = 24 * 60 * 60 * 1000

// leftOut returns a note about the pages that after: and before: leave out because they state no date; ""
// if there are none.
func (g *gathered) leftOut() string {
	switch n := g.undated.Load(); n {
	case 0:
		return ""
	case 1:
		return "One page was left out because it states no date of its own."
	default:
		return fmt.Sprintf("%d pages were left out because they state no date of their own.", n)
	}
}

func (f *filter) sets(name string, column *segment.StringColumn) []bool {
	pass := make([]bool, len(column.Sets))
	for set, values := range column.Sets {
		has := func(wanted []string) bool {
			return slices.ContainsFunc(values, func(n uint32) bool {
				return slices.ContainsFunc(wanted, func(value string) bool { return sameValue(name, column.Values[n], value) })
			})
		}
		pass[set] = (len(f.any[name]) == 0 || has(f.any[name])) && !has(f.none[name])
	}
	return pass
}

// sameValue reports whether a document's value satisfies the wanted value of a filter. The
// parameter name is the filter's name. Examples:
//
//	value             wanted
//	application/pdf   application/pdf or pdf
//	pt-BR             pt-BR or pt
//	pt                pt, pt-BR or pt-PT
func sameValue(name, value, wanted string) bool {
	value = normal(name, value)
	if value == wanted {
		return true
	}
	switch name {
	case Type:
		value, _, _ = strings.Cut(value, ";")
		_, kind, _ := strings.Cut(value, "/")
		return value == wanted || kind == wanted || kind == typeNames[wanted]
	case Lang:
		language, _, _ := strings.Cut(value, "-")
		among, _, _ := strings.Cut(wanted, "-")
		return language == wanted || value == among
	}
	return false
}

// unmatched returns a note, such as "No page is of lang:fr." or "No page links to a.org.", for each value that the
// query's filters demand and no document has. If a segment could not be read, it returns no notes, because documents of
// this segment may have the value.
func (s *search) unmatched() (notes []string) {
	if s.scatters() {
		if len(s.result.LeftOut) > 0 {
			return nil
		}
		return s.lacking
	}
	for _, l := range s.plan.filter.links {
		if len(l.sources) == 0 && !l.excluded && !s.result.Partial {
			notes = append(notes, fmt.Sprintf("No page links to %s.", l.target))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.plan.filter.any)) {
		for _, wanted := range s.plan.filter.any[name] {
			if !slices.ContainsFunc(s.columns, func(of map[string]*segment.StringColumn) bool {
				column := of[name]
				return column != nil && slices.ContainsFunc(column.Values, func(value string) bool { return sameValue(name, value, wanted) })
			}) && !slices.Contains(s.missing, true) {
				notes = append(notes, fmt.Sprintf("No page is of %s:%s.", name, wanted))
			}
		}
	}
	return notes
}

// typeNames maps names that readers may write for a media type to the second half of its MIME type:
// "txt" to the "plain" of text/plain.
var typeNames = map[string]string{"text": "plain", "txt": "plain", "htm": "html", "doc": "msword"}
