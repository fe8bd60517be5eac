package query

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// How many hits a page of results has.
const (
	defaultHits = 10
	maxHits     = 100
)

// readQuery reads q, n and from.
func readQuery(r *http.Request) (segment.Query, error) {
	values, err := parameters(r)
	if err != nil {
		return segment.Query{}, err
	}
	q := segment.Query{Text: strings.TrimSpace(strings.ToValidUTF8(values.Get("q"), "\uFFFD"))}
	if len(q.Text) > segment.MaxText {
		return q, wrong("The query has %d bytes; ask with at most %d.", len(q.Text), segment.MaxText)
	}
	if q.Size, err = number(values, "n", defaultHits, 1, maxHits); err != nil {
		return q, err
	}
	q.From, err = number(values, "from", 0, 0, segment.MaxHits-q.Size)
	return q, err
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
