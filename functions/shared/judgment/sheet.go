package judgment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Lowest and highest grade of a mark: Withdrawn takes back an earlier mark, Best is for the best
// answer.
const (
	Withdrawn = -1
	Best      = 3
)

// MaxMarks is the greatest number of marks in a sheet.
const MaxMarks = 100

const (
	version  = 1
	maxText  = 4096    // greatest size of a query's text in bytes
	maxBytes = 1 << 20 // greatest size of a sheet as JSON, in bytes
)

// ErrNewer means that a sheet or click was written by a newer version of the program.
var ErrNewer = errors.New("it was written by a newer version of bucketsearch")

// Query is a query whose results were judged or clicked: its text and the filters that restricted
// the search.
type Query struct {
	Text       string    `json:"text"`
	Site       []string  `json:"site,omitempty"`
	Lang       []string  `json:"lang,omitempty"`
	Collection []string  `json:"collection,omitempty"`
	Type       []string  `json:"type,omitempty"`
	After      time.Time `json:"after,omitzero"`
	Before     time.Time `json:"before,omitzero"`
}

// Mark is a judge's grade for a page as the answer to a query.
type Mark struct {
	URL   string `json:"url"` // canonical URL of the page
	Grade int    `json:"grade"`
}

// Sheet has the marks (grades of pages) that a judge gave at one time to results of one query.
type Sheet struct {
	Version int       `json:"version"` // version of the format; Encode sets it
	Judge   string    `json:"judge"`
	At      time.Time `json:"at"`
	Query   Query     `json:"query"`
	Marks   []Mark    `json:"marks"`
}

// canonical returns the query with sorted filters and times in UTC.
func (q Query) canonical() Query {
	for _, filter := range []*[]string{&q.Site, &q.Lang, &q.Collection, &q.Type} {
		sorted := slices.Clone(*filter)
		slices.Sort(sorted)
		*filter = slices.Compact(sorted)
	}
	q.After, q.Before = q.After.UTC(), q.Before.UTC()
	return q
}

// Hash returns the content hash of the query, which is part of the keys of its sheets.
func (q Query) Hash() string {
	content, err := encode(q.canonical())
	if err != nil {
		panic(err) // only a year beyond 9999 cannot be encoded, and check refuses it
	}
	return layout.ContentHash(content)
}

// errTime means that a query has a time with a year after 9999, which RFC 3339 cannot express, so
// that the query cannot be written as JSON.
var errTime = errors.New("its query has a time beyond the year 9999")

// check returns an error that says why the query is invalid, or nil if it is valid.
func (q Query) check() error {
	switch {
	case strings.TrimSpace(q.Text) == "" || len(q.Text) > maxText || !utf8.ValidString(q.Text):
		return fmt.Errorf("its query has %d bytes; want 1 to %d in UTF-8", len(q.Text), maxText)
	case !encodable(q.After) || !encodable(q.Before):
		return errTime
	}
	return nil
}

// encodable reports whether RFC 3339 can write a time in UTC: the year has at most four digits.
func encodable(t time.Time) bool { return t.UTC().Year() >= 0 && t.UTC().Year() <= 9999 }

// encode returns a value as JSON. It does not escape the characters &, < and >, which are frequent in
// addresses and queries.
func encode(value any) ([]byte, error) {
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(content.Bytes(), []byte("\n")), err
}

// check returns an error that says why the sheet is invalid, or nil if it is valid.
func (s Sheet) check() error {
	if err := s.Query.check(); err != nil {
		return err
	}
	switch {
	case !namePattern.MatchString(s.Judge):
		return fmt.Errorf("%.40q is no name of a judge", s.Judge)
	case s.At.IsZero() || !encodable(s.At):
		return errors.New("it has no time")
	case len(s.Marks) == 0 || len(s.Marks) > MaxMarks:
		return fmt.Errorf("it has %d marks; want 1 to %d", len(s.Marks), MaxMarks)
	}
	for i, m := range s.Marks {
		if a, err := address.Parse(m.URL); err != nil || a.URL != m.URL {
			return fmt.Errorf("mark %d: %.200q is no canonical address", i+1, m.URL)
		}
		if m.Grade < Withdrawn || m.Grade > Best {
			return fmt.Errorf("mark %d: the grade is %d; want %d to %d", i+1, m.Grade, Withdrawn, Best)
		}
		if i > 0 && m.URL <= s.Marks[i-1].URL {
			return fmt.Errorf("mark %d: %.200q is not after the address before it", i+1, m.URL)
		}
	}
	return nil
}

// Encode returns the key and the content of the object in which the sheet is stored. The marks may
// be in any order; no two may have the same URL.
func (s Sheet) Encode() (key string, content []byte, err error) {
	s.Version, s.At, s.Query = version, s.At.UTC().Truncate(time.Millisecond), s.Query.canonical()
	s.Marks = slices.Clone(s.Marks)
	slices.SortFunc(s.Marks, func(a, b Mark) int { return strings.Compare(a.URL, b.URL) })
	if err = s.check(); err == nil {
		content, err = encode(s)
	}
	if err == nil && len(content) > maxBytes {
		err = fmt.Errorf("it has %d bytes; want at most %d", len(content), maxBytes)
	}
	if err != nil {
		return "", nil, fmt.Errorf("cannot store judgments: %w", err)
	}
	return layout.JudgmentKey(s.Query.Hash(), content), content, nil
}

// Decode decodes a sheet from the key and the content of its object (see Encode). It fails with
// ErrNewer if only a newer version of the program can read the sheet; such a sheet is not damaged.
func Decode(key string, content []byte) (Sheet, error) {
	s, err := decode(key, content)
	if err != nil {
		return Sheet{}, fmt.Errorf("cannot read judgments: %w", err)
	}
	return s, nil
}

func decode(key string, content []byte) (s Sheet, err error) {
	if len(content) > maxBytes {
		return s, fmt.Errorf("%d bytes are more than %d", len(content), maxBytes)
	}
	if !strings.HasSuffix(key, "/"+layout.ContentHash(content)+".json") {
		return s, errors.New("the content is another than the name says")
	}
	var written struct{ Version int }
	if err := json.Unmarshal(content, &written); err != nil {
		return s, err
	}
	if written.Version > version {
		return s, ErrNewer
	}
	if err := json.Unmarshal(content, &s); err != nil {
		return s, err
	}
	if err := s.check(); err != nil {
		return s, err
	}
	if s.Version != version || key != layout.JudgmentKey(s.Query.Hash(), content) {
		return s, errors.New("the query is another than the name says")
	}
	return s, nil
}

// Check returns an error if the object with the key is a damaged sheet. One that only a newer
// version of the program can read is not damaged.
func Check(key string, content []byte) error {
	if _, err := Decode(key, content); err != nil && !errors.Is(err, ErrNewer) {
		return err
	}
	return nil
}

// names reports whether the query names, in its text or in a filter, a URL or site that a takedown
// forgets.
func (q Query) names(forgotten *takedown.Set) bool {
	words := slices.Clone(q.Site)
	for word := range strings.FieldsSeq(q.Text) {
		word = strings.TrimLeft(word, "+-")
		if name, value, found := strings.Cut(word, ":"); found && !strings.HasPrefix(value, "//") && strings.EqualFold(name, "site") {
			word = value
		}
		words = append(words, strings.Trim(word, "\"'“”„«»()<>,;"))
	}
	for _, word := range words {
		for _, before := range []string{"", "https://", "http://"} {
			if a, err := address.Parse(before + word); err == nil && forgotten.Forgets(a) {
				return true
			}
		}
	}
	return false
}

// Forget returns the sheet without the marks for URLs that a takedown covers. If the query itself
// mentions a URL or site that a takedown covers, Forget leaves out all marks. The result changed
// says whether it left out any.
func (s Sheet) Forget(forgotten *takedown.Set) (rest Sheet, changed bool) {
	rest = s
	rest.Marks = slices.DeleteFunc(slices.Clone(s.Marks), func(m Mark) bool { return forgotten.ForgetsURL(m.URL) })
	if s.Query.names(forgotten) {
		rest.Marks = nil
	}
	return rest, len(rest.Marks) < len(s.Marks)
}
