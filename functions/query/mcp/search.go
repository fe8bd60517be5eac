package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

var searchTool = &sdk.Tool{
	Name: "search", Title: "Search stored pages",
	Description: "Finds stored web pages by their words, best first: for each its title, address, date, hash and an excerpt. " +
		"Pages with all words come first; a few telling words find more than a question.\n" +
		"\"a phrase\" in quotes must stand together, +word must occur, -word must not, pre* begins so, colr~ allows for misspelling. " +
		"An address as the query finds its page.",
	Annotations: reads,
}

// reads are hints about a tool for clients: it changes nothing, and reads only what is stored here.
var reads = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}

// The default and the greatest number of results of one answer.
const (
	defaultResults = 8
	maxResults     = 20
)

type searchInput struct {
	Query      string `json:"query" jsonschema:"words to look for, such as: connection pool timeout"`
	N          int    `json:"n,omitempty" jsonschema:"number of results, 1 to 20; 8 if it is left out"`
	Site       string `json:"site,omitempty" jsonschema:"only pages of this site, such as example.org"`
	Lang       string `json:"lang,omitempty" jsonschema:"only pages in this language, such as en or de"`
	Collection string `json:"collection,omitempty" jsonschema:"only pages of this collection; list_collections names them"`
	Type       string `json:"type,omitempty" jsonschema:"only pages of this media type, such as pdf or html"`
	After      string `json:"after,omitempty" jsonschema:"only pages that state a date of their own on this day or later, such as 2026-01-31"`
	Before     string `json:"before,omitempty" jsonschema:"only pages that state a date of their own before this day"`
	Cursor     string `json:"cursor,omitempty" jsonschema:"the cursor of the answer before, for further results; all other arguments as before"`
}

// query reads the arguments of the tool.
func (in searchInput) query() (q engine.Query, err error) {
	q = engine.Query{Query: search.Query{Text: strings.TrimSpace(in.Query), Size: cmp.Or(in.N, defaultResults), Fold: true, Spread: true}}
	if q.Text == "" {
		return q, request.Wrong("The query is empty; ask with a few words.")
	}
	if len(q.Text) > search.MaxText {
		return q, request.Wrong("The query has %d bytes; ask with at most %d.", len(q.Text), search.MaxText)
	}
	if q.Size < 1 || q.Size > maxResults {
		return q, request.Wrong("%v.", literal.Wrong("n", in.N, literal.Range(1, maxResults)))
	}
	for to, value := range map[*[]string]string{&q.Site: in.Site, &q.Lang: in.Lang, &q.Collection: in.Collection, &q.Type: in.Type} {
		if value != "" {
			*to = []string{value}
		}
	}
	if q.After, err = literal.Time("after", in.After); err != nil {
		return q, request.Wrong("%v.", err)
	}
	if q.Before, err = literal.Time("before", in.Before); err != nil {
		return q, request.Wrong("%v.", err)
	}
	if in.Cursor == "" {
		return q, nil
	}
	c, err := parseCursor(in.Cursor)
	if err != nil {
		return q, err
	}
	if c.of != in.digest() || c.to != 0 {
		return q, request.Wrong("The cursor belongs to another search; repeat the arguments of that search, or leave the cursor out.")
	}
	if c.from > uint64(search.MaxHits-q.Size) {
		return q, request.Wrong("Only the first %d results can be seen; ask with more words, or with a filter.", search.MaxHits)
	}
	q.From = int(c.from)
	return q, nil
}

// digest identifies the search to which a cursor belongs: all arguments but n and the cursor.
func (in searchInput) digest() [8]byte {
	in.N, in.Cursor = 0, ""
	text, _ := json.Marshal(in) // strings are always written
	return digestOf(string(text))
}

func (t Tools) search(ctx context.Context, e *engine.Engine, in searchInput) (string, error) {
	q, err := in.query()
	if err != nil {
		return "", err
	}
	found, err := e.Search(ctx, q)
	if err != nil {
		return "", err
	}
	hashes, err := e.Hashes(ctx, found.Hits)
	if err != nil {
		return "", err
	}
	notes := found.Sentences()
	if found.Incomplete && found.Lost == nil {
		notes = append(notes, "Some pages are missing, because a part of the index is damaged.")
	}
	if len(found.Hits) == 0 {
		return listed(notes) + nothing(q), nil
	}
	var results strings.Builder
	left := MaxAnswer - envelopeSize - headSize
	shown, dropped := 0, 0
	for i := range found.Hits {
		result, invisible := visible(resultOf(q.From+i+1, &found.Hits[i], hashes[i]))
		if size := jsonSize(result); size <= left {
			left -= size
		} else if i > 0 {
			break
		} else {
			result = result[:fit(result, left)]
			left = 0
		}
		results.WriteString(result)
		shown, dropped = i+1, dropped+invisible
	}
	end := q.From + shown
	head := fmt.Sprintf("%s; these are results %d to %d.\n", matches(found), q.From+1, end) + listed(append(notes, droppedNote(dropped)...))
	if end < search.MaxHits && (shown < len(found.Hits) || len(found.Hits) == q.Size && (end < found.Total || !found.Exact)) {
		head += fmt.Sprintf("For more results, call search with the same arguments and the cursor %s.\n", cursor{of: in.digest(), from: uint64(end)})
	}
	return envelope(head+"Cite a page by its address, date and hash; read_page shows its text.", results.String()), nil
}

// headSize is the greatest size of an answer's head as JSON, in bytes.
const headSize = 4000

func matches(found engine.Result) string {
	what, least := "pages match", ""
	switch {
	case found.Images:
		what = "images match"
	case found.Total == 1:
		what = "page matches"
	}
	if !found.Exact {
		least = "At least "
	}
	return fmt.Sprintf("%s%d %s", least, found.Total, what)
}

// nothing returns advice for a search that found nothing.
func nothing(q engine.Query) string {
	switch {
	case q.From > 0:
		return "There are no further results.\n"
	case len(q.Site)+len(q.Lang)+len(q.Collection)+len(q.Type) > 0 || !q.After.IsZero() || !q.Before.IsZero():
		return "Nothing is found. Leave out filters (site, lang, collection, type, after, before), or ask with fewer or other words; list_collections says what is stored.\n"
	}
	return "Nothing is found. Ask with fewer or other words, without quotes and signs; list_collections says what is stored.\n"
}

// resultOf returns a result in the form in which it is shown:
//
//	[1] json — JSON encoder and decoder
//	https://docs.python.org/3/library/json.html
//	dated 2026-01-31, fetched 2026-11-21, sha256 5c1ab0cbc5f0e4bd, en, text/html
//	… json.dumps(obj) serializes obj to a JSON formatted str …
func resultOf(number int, hit *search.Hit, hash [32]byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d] %s\n%s\n", number, oneLine(cmp.Or(hit.Title, hit.URL)), hit.URL)
	var facts []string
	if hit.Unvisited {
		facts = append(facts, "not stored: only links to it are known, and the excerpt has their texts")
	} else {
		facts = append(facts, provenance(day(hit.Date), hit.Fetched, hash))
	}
	for _, fact := range []string{hit.Lang, hit.MIME} {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	if hit.Pinned {
		facts = append(facts, "pinned for this query")
	}
	if n := len(hit.Alike); n > 0 {
		facts = append(facts, fmt.Sprintf("%d more alike", n))
	}
	if hit.MoreOfSite > 0 {
		facts = append(facts, fmt.Sprintf("%d more of site %s", hit.MoreOfSite, hit.Site))
	}
	b.WriteString(strings.Join(facts, ", ") + "\n")
	if hit.Image != nil {
		fmt.Fprintf(&b, "image %s\n", hit.Image.URL)
	}
	if excerpt := oneLine(engine.Plain(hit.Snippet)); excerpt != "" {
		b.WriteString(excerpt + "\n")
	}
	return b.String() + "\n"
}

// provenance returns what a citation of a stored page has beside its address: the day of the page's own date
// (the parameter date, "" if it is not known), the day of the fetch, and the beginning of the hash (SHA-256)
// of the stored copy.
func provenance(date string, fetched time.Time, hash [32]byte) string {
	text := "fetched " + day(fetched)
	if date != "" {
		text = "dated " + date + ", " + text
	}
	if hash != [32]byte{} {
		text += fmt.Sprintf(", sha256 %x", hash[:8])
	}
	return text
}

// day returns the day of a time in UTC, such as 2026-01-31; "" for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
