package query

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// How many hits a page of results has.
const (
	defaultHits = 10
	maxHits     = 100
)

// maxPatience is the longest that a client may have a search take, in ms.
const maxPatience = 60_000

// readQuery reads the parameters of /search; see Handler.
func readQuery(r *http.Request, now time.Time) (Query, error) {
	values, err := parameters(r)
	if err != nil {
		return Query{}, err
	}
	q := Query{Query: search.Query{
		Text:       strings.TrimSpace(strings.ToValidUTF8(values.Get("q"), "\uFFFD")),
		Site:       values["site"],
		Lang:       values["lang"],
		Collection: values["collection"],
		Type:       values["type"],
		Facets:     values["facet"],
	}}
	if len(q.Text) > search.MaxText {
		return q, wrong("The query has %d bytes; ask with at most %d.", len(q.Text), search.MaxText)
	}
	if q.Size, err = number(values, "n", defaultHits, 1, maxHits); err != nil {
		return q, err
	}
	if q.From, err = number(values, "from", 0, 0, search.MaxHits-q.Size); err != nil {
		return q, err
	}
	for name, to := range map[string]*time.Time{"after": &q.After, "before": &q.Before, "asof": &q.AsOf} {
		if *to, err = moment(values, name); err != nil {
			return q, err
		}
	}
	millis, err := number(values, "timeout", 0, 1, maxPatience)
	if err != nil {
		return q, err
	}
	if millis > 0 {
		q.Deadline = now.Add(time.Duration(millis) * time.Millisecond)
	}
	for _, what := range values["explain"] {
		switch what {
		case "score":
			q.Explain = true
		case "cost":
			q.Cost = true
		default:
			return q, wrong("explain=%.40s is not possible; ask for score or cost.", what)
		}
	}
	return q, nil
}

func moment(values url.Values, name string) (time.Time, error) {
	t, err := ParseMoment(values.Get(name))
	if err != nil {
		return t, wrong("%s is not possible: %v", name, err)
	}
	return t, nil
}

// ParseMoment reads a date or a time (RFC 3339); nothing is the zero time.
func ParseMoment(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is no time; write it like 2026-11-21 or 2026-11-21T09:30:00Z", text)
}

func parameters(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, wrong("The address is malformed behind its question mark; a percent sign is written %%25 there.")
	}
	return values, nil
}

func number(values url.Values, name string, otherwise, least, most int) (int, error) {
	text := values.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, wrong("%s=%.40s is not possible; it must be a number from %d to %d.", name, text, least, most)
	}
	return n, nil
}

func wrong(format string, args ...any) failure {
	return failure{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// wantsJSON reports whether the client names application/json and does not
// like text/html better (RFC 9110, section 12.5.1).
func wantsJSON(r *http.Request) bool {
	var asJSON, asHTML float64
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		quality, err := strconv.ParseFloat(parameters["q"], 64)
		if err != nil {
			quality = 1
		}
		switch media {
		case "application/json":
			asJSON = quality
		case "text/html":
			asHTML = quality
		}
	}
	return asJSON > 0 && asJSON >= asHTML
}
