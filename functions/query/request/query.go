// Package request reads the requests of clients of the query function, and makes the sentences that
// tell them what went wrong.
package request

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// The default and the greatest number of hits on a page of results.
const (
	DefaultHits = 10
	MaxHits     = 100
)

// maxPatience is the largest value of the parameter timeout, in milliseconds.
const maxPatience = 60_000

// SearchParameters are the names of the parameters that Read reads.
var SearchParameters = []string{"q", "n", "from", "site", "lang", "collection", "type", "after", "before", "asof", "facet", "timeout", "explain", "fold", "across", "sort"}

// Query reads a search from the parameters in the address of a request (see Read). It refuses parameters
// that Read does not know. The parameter now is the present time. The error is a Failure.
func Query(r *http.Request, now time.Time) (engine.Query, error) {
	values, err := Parameters(r)
	if err != nil {
		return engine.Query{}, err
	}
	if err := Only(values, SearchParameters); err != nil {
		return engine.Query{}, err
	}
	return Read(values, Languages(r), now)
}

// Read reads a search from parameters. The filters, facet and explain may be given several times:
//
//	q=                              the query, in the query language of package search
//	site= lang= collection= type=   only pages with one of these values; type=image finds
//	                                images instead (see engine.Picture)
//	n= from=                        the hits numbered from+1 to from+n
//	after= before=                  only pages whose own date is in this period; each is a
//	                                date such as 2026-01-31, or an RFC 3339 time
//	asof=                           search the state of the index at a past moment
//	across=                         also find pages in these languages, such as de,fr, by
//	                                translating the query (see search.Across)
//	fold=site                       at most two of the first ten hits are of one site; pages
//	                                of results in HTML always have this
//	sort=date                       the newest pages first, by their own dates
//	facet=                          count pages by site, lang, collection, type, or the year of their
//	                                own date
//	timeout=                        milliseconds after which the hits found so far are returned
//	explain=score, explain=cost     add how scores were computed; add what the answer cost
//
// The parameter reader has the languages of the reader (see Languages). If the language of the query is not
// clear from the query, they decide which of several translations or copies of a page is shown. The
// parameter now is the present time. The error is a Failure.
func Read(values url.Values, reader []string, now time.Time) (q engine.Query, err error) {
	q = engine.Query{Query: search.Query{
		Text:       strings.TrimSpace(strings.ToValidUTF8(values.Get("q"), "\uFFFD")),
		Site:       values["site"],
		Lang:       values["lang"],
		Collection: values["collection"],
		Type:       values["type"],
		Facets:     values["facet"],
		Fold:       true,
		Reader:     reader,
	}}
	if q.Across.Into, err = literal.Languages("across", strings.Join(values["across"], ","), search.MaxAcross); err != nil {
		return q, WrongIn("across", "%v.", err)
	}
	if q.Size, err = Number(values, "n", DefaultHits, 1, MaxHits); err != nil {
		return q, err
	}
	if q.From, err = Number(values, "from", 0, 0, q.Most()-q.Size); err != nil {
		return q, err
	}
	for name, to := range map[string]*time.Time{"after": &q.After, "before": &q.Before, "asof": &q.AsOf} {
		if *to, err = Moment(values, name); err != nil {
			return q, err
		}
	}
	millis, err := Number(values, "timeout", 0, 1, maxPatience)
	if err != nil {
		return q, err
	}
	if millis > 0 {
		q.Deadline = now.Add(time.Duration(millis) * time.Millisecond)
	}
	for _, what := range values["fold"] {
		if what != "site" {
			return q, WrongIn("fold", "%v.", literal.Wrong("fold", what, "site"))
		}
		q.Spread = true
	}
	for _, what := range values["sort"] {
		if what != "date" {
			return q, WrongIn("sort", "%v.", literal.Wrong("sort", what, "date"))
		}
		q.ByDate = true
	}
	for _, what := range values["explain"] {
		switch what {
		case "score":
			q.Explain = true
		case "cost":
			q.Cost = true
		default:
			return q, WrongIn("explain", "%v.", literal.Wrong("explain", what, "score or cost"))
		}
	}
	return q, nil
}

// Only returns a Failure if one of the parameters is not among the known names. Its sentence suggests the
// known name that is most similar, or else lists all known names.
func Only(values url.Values, known []string) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(known, name) {
			continue
		}
		if near := literal.Nearest(strings.ToLower(name), known); near != "" {
			return WrongIn(name, "There is no parameter %.40q; did you mean %s?", name, near)
		}
		if len(known) == 0 {
			return WrongIn(name, "There is no parameter %.40q; there are none here.", name)
		}
		return WrongIn(name, "There is no parameter %.40q; there are %s.", name, strings.Join(known, ", "))
	}
	return nil
}

// maxLanguages is the greatest number of languages that Languages returns.
const maxLanguages = 16

// Languages returns the languages of the client, which its header Accept-Language names (see
// languagesOf).
func Languages(r *http.Request) []string { return languagesOf(r.Header.Values("Accept-Language")) }

// languagesOf returns the languages in the fields of the header Accept-Language (RFC 9110, section 12.5.4)
// as primary subtags, such as de for de-AT. Each is there once, in the order of their quality, the preferred
// first, and at most maxLanguages. Languages with the quality 0 are left out.
func languagesOf(fields []string) (languages []string) {
	type wanted struct {
		language string
		quality  float64
	}
	var all []wanted
	for part := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		tag, parameter, _ := strings.Cut(part, ";")
		primary, _, _ := strings.Cut(strings.TrimSpace(tag), "-")
		quality := 1.0
		if value, found := strings.CutPrefix(strings.TrimSpace(parameter), "q="); found {
			quality, _ = strconv.ParseFloat(value, 64)
		}
		if primary != "" && primary != "*" && quality > 0 {
			all = append(all, wanted{strings.ToLower(primary), quality})
		}
	}
	slices.SortStableFunc(all, func(a, b wanted) int { return cmp.Compare(b.quality, a.quality) })
	for _, w := range all {
		if !slices.Contains(languages, w.language) && len(languages) < maxLanguages {
			languages = append(languages, w.language)
		}
	}
	return languages
}

// Moment reads a parameter that is a date or an RFC 3339 time. If the parameter is missing, the result is
// the zero time. The error is a Failure.
func Moment(values url.Values, name string) (time.Time, error) {
	t, err := literal.Time(name, values.Get(name))
	if err != nil {
		return t, WrongIn(name, "%v.", err)
	}
	return t, nil
}

// Parameters returns the parameters in the address of a request.
func Parameters(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, Wrong("The address is malformed behind its question mark; a percent sign is written %%25 there.")
	}
	return values, nil
}

// Number reads a parameter that is a whole number from least to most. If the parameter is missing, the
// result is otherwise. The error is a Failure.
func Number(values url.Values, name string, otherwise, least, most int) (int, error) {
	text := values.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := literal.Whole(name, text, int64(least), int64(most))
	if err != nil {
		return 0, WrongIn(name, "%v.", err)
	}
	return int(n), nil
}
